// SPDX-License-Identifier: GPL-3.0-or-later
#include <array>

#include "bench/speed/scenario.hpp"

namespace headrace::lab {
namespace {

constexpr std::array<Scenario, 1> kScenarios{{
    {"lan", "what headrace costs where nothing is to be cured: bulk, small messages, connections, idle",
     run_lan},
}};

}  // namespace

std::span<const Scenario> scenarios() { return kScenarios; }

}  // namespace headrace::lab
