// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "config/load.hpp"
#include "proxy/socket.hpp"

// What this process and this kernel will not do of what the policies ask. Found out once, at start, by
// trying on sockets made for it, so that a session never fails or logs because of it.
namespace headrace {

// The same treatment without the calls that were refused.
SharedTreatment without(const SharedTreatment& treatment, const std::vector<RefusedCall>& refused);

// One sentence for each call that some policy asks for in vain, each once.
std::vector<std::string> refused_settings(const PolicyTable& policies, bool ipv6);

}  // namespace headrace
