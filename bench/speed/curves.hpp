// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "bench/speed/report.hpp"

namespace headrace::lab {

// Collects the curves of plots while turns run, side by side or not; of each curve the last turn's stays.
class Curves {
 public:
  void put(const std::string& plot, const std::string& title, std::vector<std::pair<double, double>> points);

  // The plot with its curves in the order in which it names their titles; without those that nobody put.
  Plot fill(Plot plot, const std::vector<std::string>& titles) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::vector<std::pair<double, double>>> points_;
};

// For a quick report: that this much was moved instead of what the rows' titles say.
void say_less_was_moved(ScenarioReport& report, std::uint64_t bytes);

// Ids of a scenario's contenders, for fill().
std::vector<std::string> contender_ids(const ScenarioReport& report);

}  // namespace headrace::lab
