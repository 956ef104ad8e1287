// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "deploy/net_plan.hpp"

namespace headrace {

// Everything that `net up` and the daemon would do to this host, as one text for people and for a shell:
// `headrace net show`. Pure.
std::string net_show(const HostPlan& host, const DiversionPlan& diversion);

}  // namespace headrace
