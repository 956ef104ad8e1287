// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/curves.hpp"

namespace headrace::lab {

void Curves::put(const std::string& plot, const std::string& title,
                 std::vector<std::pair<double, double>> points) {
  const std::lock_guard lock(mutex_);
  points_[{plot, title}] = std::move(points);
}

Plot Curves::fill(Plot plot, const std::vector<std::string>& titles) const {
  const std::lock_guard lock(mutex_);
  for (const std::string& title : titles) {
    const auto found = points_.find({plot.id, title});
    if (found != points_.end()) plot.curves.push_back({title, found->second});
  }
  return plot;
}

void say_less_was_moved(ScenarioReport& report, std::uint64_t bytes) {
  report.conditions.push_back("quick: " + std::to_string(bytes / 1000) +
                              " kB instead of what the title says: start-up weighs more");
}

std::vector<std::string> contender_ids(const ScenarioReport& report) {
  std::vector<std::string> ids;
  for (const ReportedContender& one : report.contenders) ids.push_back(one.id);
  return ids;
}

}  // namespace headrace::lab
