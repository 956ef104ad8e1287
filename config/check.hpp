// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "config/load.hpp"

// What can be judged only once everything is read: policies against each other, against the listener ports
// and against the interfaces. Private to config/; pure.
namespace headrace {

void check_whole(const Configuration& configuration, std::vector<Problem>& problems,
                 std::vector<Problem>& warnings);

}  // namespace headrace
