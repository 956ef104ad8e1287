// SPDX-License-Identifier: GPL-3.0-or-later
#include <iomanip>
#include <sstream>

#include "bench/speed/report.hpp"

namespace headrace::lab {
namespace {

constexpr int kTitleWidth = 34, kColumn = 11;

std::string number(std::optional<double> value) {
  if (!value) return "-";
  std::ostringstream text;
  text << std::fixed << std::setprecision(*value < 20 ? 2 : 0) << *value;
  return text.str();
}

void heading(std::ostream& out, const ScenarioReport& report) {
  out << "\n"
      << report.name << ": " << report.turns << " turns, load " << number(report.load_before) << " to "
      << number(report.load_after) << "\n";
  for (const std::string& condition : report.conditions) out << "  " << condition << "\n";
  for (const ReportedContender& gone : report.missing)
    out << "  missing: " << gone.title << " could not be installed here\n";
  out << "\n" << std::left << std::setw(kTitleWidth) << "" << std::right;
  for (const ReportedContender& contender : report.contenders) out << std::setw(kColumn) << contender.id;
  out << "\n";
}

void metric_line(std::ostream& out, const ScenarioReport& report, const MetricReport& metric) {
  const std::string peer = better_peer(report, metric);
  const bool is_count = metric.metric.kind == Kind::count;
  const std::string unit = is_count ? metric.metric.unit : "ratio";
  out << std::left << std::setw(kTitleWidth) << "  " + metric.metric.title + " (" + unit + ")" << std::right;
  for (const ReportedContender& contender : report.contenders) {
    const auto samples = metric.by_contender.find(contender.id);
    std::optional<double> value;
    if (samples != metric.by_contender.end())
      value = is_count ? median(samples->second) : paired_ratio(metric, contender.id, peer);
    out << std::setw(kColumn) << number(value);
  }
  out << "\n";
}

void bar_line(std::ostream& out, const ScenarioReport& report, const Bar& bar) {
  const Verdict verdict = judge(report, bar);
  const char* says = !verdict.value    ? "not measured"
                     : !report.judged  ? "not judged"
                     : verdict.reached ? "reached"
                                       : "NOT REACHED";
  const MetricReport* metric = find(report, bar.row, bar.metric);
  const std::string what = bar.row + ", " + (metric == nullptr ? bar.metric : metric->metric.title);
  const std::string against = bar.against.empty() ? "" : " x " + bar.against;
  out << "  " << std::left << std::setw(40) << what << std::setw(14) << bar.contender << std::setw(30)
      << (bar.side == Bar::Side::at_least ? ">= " : "<= ") + number(bar.limit) + against << std::right
      << std::setw(8) << number(verdict.value) << "  " << says << "\n";
}

}  // namespace

std::string as_text(const ScenarioReport& report) {
  std::ostringstream out;
  heading(out, report);
  for (const RowReport& row : report.rows) {
    out << row.title << "\n";
    for (const MetricReport& metric : row.metrics) metric_line(out, report, metric);
  }
  out << "\nratio: against the better peer (1.00) of the same turn, median over the turns\n";
  if (!report.judged) out << "Too few turns to judge: run without --quick\n";
  for (const Bar& bar : report.bars) bar_line(out, report, bar);
  return out.str();
}

}  // namespace headrace::lab
