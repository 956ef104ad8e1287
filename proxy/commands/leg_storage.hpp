// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "config/environment.hpp"
#include "proxy/leg_storage.hpp"

namespace headrace {

// Loads the BPF program and gives up the capability for it, before any thread starts. Without it (no BPF in
// this build or kernel, no privilege) the environment says why, so that a policy of the user's that needs it
// is an error and a shipped profile does without.
std::unique_ptr<const LegStorage> load_leg_storage(Environment& environment);

}  // namespace headrace
