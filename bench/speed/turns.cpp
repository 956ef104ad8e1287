// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/turns.hpp"

#include <algorithm>
#include <atomic>

#include "bench/speed/progress.hpp"

namespace headrace::lab {
namespace {

std::atomic<bool> no_more_turns{false};

std::vector<const AvailableContender*> takers(const Row& row, const std::vector<AvailableContender>& all) {
  std::vector<const AvailableContender*> chosen;
  for (const AvailableContender& one : all) {
    const auto& ids = row.contenders;
    if (std::find(ids.begin(), ids.end(), one.contender.id) != ids.end()) chosen.push_back(&one);
  }
  return chosen;
}

std::vector<double> take_turn(const Row& row, const AvailableContender& one, bool quick) {
  const SpeedLab lab(row.lab);
  const Running running(one.contender, lab, one.program);
  return row.measure({lab, running, quick});
}

}  // namespace

RowReport take_turns(const Row& row, const std::vector<AvailableContender>& contenders, int turns,
                     bool quick) {
  RowReport report{row.id, row.title, {}};
  for (const Metric& metric : row.metrics) report.metrics.push_back({metric, {}});
  std::vector<const AvailableContender*> order = takers(row, contenders);
  const int all = row.turns > 0 ? std::min(row.turns, turns) : turns;
  for (int turn = 0; turn < all; ++turn, std::reverse(order.begin(), order.end())) {
    for (const AvailableContender* one : order) {
      throw_if_interrupted();
      if (no_more_turns) throw Interrupted();
      show_progress(row.title + ", turn " + std::to_string(turn + 1) + " of " + std::to_string(all) + ": " +
                    one->contender.id);
      const std::vector<double> values = take_turn(row, *one, quick);
      for (std::size_t i = 0; i < report.metrics.size(); ++i)
        report.metrics[i].by_contender[one->contender.id].push_back(values.at(i));
    }
  }
  return report;
}

void take_no_more_turns() noexcept { no_more_turns = true; }
bool takes_no_more_turns() noexcept { return no_more_turns; }

}  // namespace headrace::lab
