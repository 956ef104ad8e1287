// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/scenario_plan.hpp"

#include <algorithm>

#include "bench/speed/usage.hpp"

namespace headrace::lab {
namespace {

bool is_wanted(const std::vector<std::string>& wanted, const std::string& id) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), id) != wanted.end();
}

// Ids of those that are measured against, would take turns in the row, and are not there.
std::vector<std::string> absent_peers(const Row& row, const ScenarioReport& report) {
  std::vector<std::string> absent;
  for (const auto* list : {&report.missing, &report.left_out}) {
    for (const ReportedContender& one : *list) {
      const auto& takers = row.contenders;
      if (one.is_peer && std::find(takers.begin(), takers.end(), one.id) != takers.end())
        absent.push_back(one.id);
    }
  }
  return absent;
}

// Who is there and who is not, said in the report.
std::vector<AvailableContender> contenders_at_hand(const ScenarioPlan& plan, const ScenarioRequest& request,
                                                   ScenarioReport& report) {
  std::vector<AvailableContender> available;
  for (const Contender& contender : plan.contenders) {
    const ReportedContender reported{contender.id, contender.title, contender.is_peer};
    if (!is_wanted(request.contenders, contender.id)) {
      report.left_out.push_back(reported);
      continue;
    }
    const auto program = program_of(contender, request.headrace);
    (program ? report.contenders : report.missing).push_back(reported);
    if (program) available.push_back({contender, *program});
  }
  return available;
}

void note_absent_peers(const ScenarioPlan& plan, ScenarioReport& report) {
  for (RowReport& reported : report.rows) {
    for (const Row& row : plan.rows) {
      if (row.id == reported.id) reported.absent_peers = absent_peers(row, report);
    }
  }
}

}  // namespace

ScenarioReport carry_out(const ScenarioPlan& plan, const ScenarioRequest& request) {
  ScenarioReport report;
  report.name = plan.name;
  report.turns = request.quick ? plan.quick_turns : plan.turns;
  report.judged = !request.quick;
  report.conditions = plan.conditions;
  const std::vector<AvailableContender> available = contenders_at_hand(plan, request, report);
  report.load_before = load_average();
  std::vector<Row> at_once;
  for (const Row& row : plan.rows) {
    if (!is_wanted(request.rows, row.id)) continue;
    if (row.share < 1)
      at_once.push_back(row);
    else
      report.rows.push_back(take_turns(row, available, report.turns, request.quick));
  }
  for (RowReport& row : take_turns_at_once(at_once, available, report.turns, request.quick))
    report.rows.push_back(std::move(row));
  report.load_after = load_average();
  note_absent_peers(plan, report);
  for (const Bar& bar : plan.bars) {
    if (is_wanted(request.rows, bar.row)) report.bars.push_back(bar);
  }
  if (plan.plots) report.plots = plan.plots(report);
  return report;
}

}  // namespace headrace::lab
