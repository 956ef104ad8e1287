// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "bench/speed/report.hpp"

namespace headrace::lab {

struct ScenarioRequest {
  bool quick = false;
  std::vector<std::string> rows, contenders;  // only these; empty: all
  std::filesystem::path headrace;             // the program
};

// One row of scenarios.md: makes its own labs, measures every contender, leaves nothing behind. Progress goes
// to stderr. Throws when something fails; a contender that cannot be had is no failure.
struct Scenario {
  const char* name;
  const char* says;
  ScenarioReport (*run)(const ScenarioRequest&);
};

// A new scenario is one file, one declaration here and one row in scenarios.cpp.
ScenarioReport run_sqlplus(const ScenarioRequest& request);
ScenarioReport run_delack(const ScenarioRequest& request);
ScenarioReport run_t1(const ScenarioRequest& request);
ScenarioReport run_gprs(const ScenarioRequest& request);
ScenarioReport run_edge(const ScenarioRequest& request);
ScenarioReport run_lossy(const ScenarioRequest& request);
ScenarioReport run_lan(const ScenarioRequest& request);
ScenarioReport run_scale(const ScenarioRequest& request);

std::span<const Scenario> scenarios();

}  // namespace headrace::lab
