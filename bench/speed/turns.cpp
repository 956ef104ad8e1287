// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/turns.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "bench/speed/at_once.hpp"
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

// Only one lab is being made at a time: many at once would take as long, and disturb those that measure.
std::mutex making;

std::vector<double> take_turn(const Row& row, const AvailableContender& one, const std::string& title,
                              bool quick) {
  std::unique_lock alone(making);
  show_progress(title + ": " + one.contender.id);
  const SpeedLab lab(row.lab);
  const Running running(one.contender, lab, one.program);
  alone.unlock();
  return row.measure({lab, running, quick});
}

int turns_of(const Row& row, int turns) { return row.turns > 0 ? std::min(row.turns, turns) : turns; }

RowReport empty_report(const Row& row) {
  RowReport report{row.id, row.title, {}};
  for (const Metric& metric : row.metrics) report.metrics.push_back({metric, {}});
  return report;
}

void enter(RowReport& report, const std::string& contender, const std::vector<double>& values) {
  for (std::size_t i = 0; i < report.metrics.size(); ++i)
    report.metrics[i].by_contender[contender].push_back(values.at(i));
}

std::vector<double> next_turn(const Row& row, const AvailableContender& one, int turn, int all, bool quick) {
  throw_if_interrupted();
  if (no_more_turns) throw Interrupted();
  return take_turn(row, one, row.title + ", turn " + std::to_string(turn + 1) + " of " + std::to_string(all),
                   quick);
}

// One turn of one contender in one row, beside others.
struct Placed {
  std::size_t row;
  const AvailableContender* one;
  int turn;
  std::vector<double> values = {};
};

std::vector<Placed> places(const std::vector<Row>& rows, const std::vector<AvailableContender>& contenders,
                           int turns) {
  std::vector<Placed> all;
  for (int turn = 0; turn < turns; ++turn) {
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (turn >= turns_of(rows[row], turns)) continue;
      for (const AvailableContender* one : takers(rows[row], contenders)) all.push_back({row, one, turn});
    }
  }
  std::stable_sort(all.begin(), all.end(), [&](const Placed& left, const Placed& right) {
    return rows[left.row].share < rows[right.row].share;
  });
  return all;
}

}  // namespace

RowReport take_turns(const Row& row, const std::vector<AvailableContender>& contenders, int turns,
                     bool quick) {
  RowReport report = empty_report(row);
  std::vector<const AvailableContender*> order = takers(row, contenders);
  const int all = turns_of(row, turns);
  for (int turn = 0; turn < all; ++turn, std::reverse(order.begin(), order.end())) {
    for (const AvailableContender* one : order)
      enter(report, one->contender.id, next_turn(row, *one, turn, all, quick));
  }
  return report;
}

std::vector<RowReport> take_turns_at_once(const std::vector<Row>& rows,
                                          const std::vector<AvailableContender>& contenders, int turns,
                                          bool quick) {
  std::vector<Placed> all = places(rows, contenders, turns);
  std::vector<Task> tasks;
  for (Placed& placed : all) {
    const Row& row = rows[placed.row];
    tasks.push_back({row.share, [&placed, &row, turns, quick] {
                       placed.values = next_turn(row, *placed.one, placed.turn, turns_of(row, turns), quick);
                     }});
  }
  run_at_once(tasks, [] { return no_more_turns.load(); });
  std::vector<RowReport> reports;
  for (const Row& row : rows) reports.push_back(empty_report(row));
  for (const Placed& placed : all) enter(reports[placed.row], placed.one->contender.id, placed.values);
  return reports;
}

void take_no_more_turns() noexcept { no_more_turns = true; }
bool takes_no_more_turns() noexcept { return no_more_turns; }

}  // namespace headrace::lab
