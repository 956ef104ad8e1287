// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/speed/scenario.hpp"
#include "bench/speed/turns.hpp"

namespace headrace::lab {

// A scenario of rows that contenders take in turns, as a value.
struct ScenarioPlan {
  std::string name;
  std::vector<std::string> conditions;
  std::vector<Contender> contenders;
  std::vector<Row> rows;
  std::vector<Bar> bars;
  int turns = 5, quick_turns = 2;
  std::function<std::vector<Plot>(const ScenarioReport&)> plots = {};  // of what was measured
};

// Measures the rows that are asked for: each that needs the machine for itself, then the others at once.
// Contenders that cannot be had are reported as missing, those that are not asked for as left out.
ScenarioReport carry_out(const ScenarioPlan& plan, const ScenarioRequest& request);

}  // namespace headrace::lab
