// SPDX-License-Identifier: GPL-3.0-or-later
#include <array>

#include "bench/speed/scenario.hpp"

namespace headrace::lab {
namespace {

constexpr std::array<Scenario, 2> kScenarios{{
    {"lan", "what headrace costs where nothing is to be cured: bulk, small messages, connections, idle",
     run_lan},
    {"scale", "what stays flat: 10 to 8,000 sessions, 10 to 100,000 policies; single operations", run_scale},
}};

}  // namespace

std::span<const Scenario> scenarios() { return kScenarios; }

}  // namespace headrace::lab
