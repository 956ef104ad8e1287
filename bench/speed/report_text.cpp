// SPDX-License-Identifier: GPL-3.0-or-later
#include <iomanip>
#include <sstream>

#include "bench/speed/report.hpp"

namespace headrace::lab {
namespace {

constexpr int kTitleWidth = 34, kColumn = 11;

void heading(std::ostream& out, const ScenarioReport& report) {
  out << "\n"
      << report.name << ": at most " << turns_say(static_cast<std::size_t>(report.turns)) << " a row, load "
      << in_short(report.load_before) << " to " << in_short(report.load_after) << "\n";
  for (const std::string& condition : report.conditions) out << "  " << condition << "\n";
  for (const std::string& absence : absences(report)) out << "  " << absence << "\n";
  out << "\n" << std::left << std::setw(kTitleWidth) << "" << std::right;
  for (const ReportedContender& contender : report.contenders) out << std::setw(kColumn) << contender.id;
  out << "\n";
}

void metric_line(std::ostream& out, const ScenarioReport& report, const MetricReport& metric) {
  out << std::left << std::setw(kTitleWidth)
      << "  " + metric.metric.title + " (" + unit_told(metric.metric) + ")" << std::right;
  for (const ReportedContender& contender : report.contenders)
    out << std::setw(kColumn) << in_short(told(report, metric, contender.id));
  out << "\n";
}

void bar_line(std::ostream& out, const ScenarioReport& report, const Bar& bar) {
  const Verdict verdict = judge(report, bar);
  out << "  " << std::left << std::setw(40) << subject_of(report, bar) << std::setw(14) << bar.contender
      << std::setw(24) << bound_says(bar) << std::setw(24) << range_says(verdict) << std::setw(9)
      << turns_say(verdict.turns) << verdict_says(report, verdict) << std::right << "\n";
}

}  // namespace

std::string as_text(const ScenarioReport& report) {
  std::ostringstream out;
  heading(out, report);
  for (const RowReport& row : report.rows) {
    out << row.title << " (" << turns_say(turns_of(row)) << ")\n";
    for (const MetricReport& metric : row.metrics) metric_line(out, report, metric);
  }
  out << "\nratio: against the better peer (1.00) of the same turn, median over the turns\n"
      << "bars: the median, in brackets the lowest and the highest turn\n";
  if (!report.judged) out << "Too few turns to judge: run without --quick\n";
  for (const Bar& bar : report.bars) bar_line(out, report, bar);
  for (const std::string& note : report.notes) out << "  note: " << note << "\n";
  return out.str();
}

}  // namespace headrace::lab
