// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/report.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace headrace::lab {
namespace {

bool is_better(const Metric& metric, double one, double other) {
  return metric.better == Better::higher ? one > other : one < other;
}

const Samples* samples_of(const MetricReport& metric, const std::string& contender) {
  const auto found = metric.by_contender.find(contender);
  return found == metric.by_contender.end() || found->second.empty() ? nullptr : &found->second;
}

}  // namespace

std::optional<double> median(const Samples& samples) {
  if (samples.empty()) return std::nullopt;
  Samples sorted = samples;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::optional<double> paired_ratio(const MetricReport& metric, const std::string& contender,
                                   const std::string& against) {
  const Samples* ours = samples_of(metric, contender);
  const Samples* theirs = samples_of(metric, against);
  if (ours == nullptr || theirs == nullptr) return std::nullopt;
  Samples ratios;
  for (std::size_t turn = 0; turn < std::min(ours->size(), theirs->size()); ++turn) {
    if ((*theirs)[turn] > 0) ratios.push_back((*ours)[turn] / (*theirs)[turn]);
  }
  return median(ratios);
}

std::string better_peer(const ScenarioReport& report, const MetricReport& metric) {
  std::string best;
  double value = 0;
  for (const ReportedContender& contender : report.contenders) {
    const Samples* samples = contender.is_peer ? samples_of(metric, contender.id) : nullptr;
    if (samples == nullptr) continue;
    const double candidate = *median(*samples);
    if (!best.empty() && !is_better(metric.metric, candidate, value)) continue;
    best = contender.id;
    value = candidate;
  }
  return best;
}

const MetricReport* find(const ScenarioReport& report, const std::string& row, const std::string& metric) {
  for (const RowReport& one : report.rows) {
    if (one.id != row) continue;
    for (const MetricReport& candidate : one.metrics) {
      if (candidate.metric.id == metric) return &candidate;
    }
  }
  return nullptr;
}

Verdict judge(const ScenarioReport& report, const Bar& bar) {
  Verdict verdict;
  const MetricReport* metric = find(report, bar.row, bar.metric);
  if (metric == nullptr) return verdict;
  if (bar.against.empty()) {
    const Samples* samples = samples_of(*metric, bar.contender);
    if (samples != nullptr) verdict.value = median(*samples);
  } else {
    const std::string against = bar.against == kBetterPeer ? better_peer(report, *metric) : bar.against;
    verdict.value = paired_ratio(*metric, bar.contender, against);
  }
  if (!verdict.value) return verdict;
  verdict.reached =
      bar.side == Bar::Side::at_least ? *verdict.value >= bar.limit : *verdict.value <= bar.limit;
  return verdict;
}

std::string in_short(std::optional<double> value) {
  if (!value) return "-";
  std::ostringstream text;
  text << std::fixed << std::setprecision(*value < 20 ? 2 : 0) << *value;
  return text.str();
}

std::string verdict_says(const ScenarioReport& report, const Verdict& verdict) {
  if (!verdict.value) return "not measured";
  if (!report.judged) return "not judged";
  return verdict.reached ? "reached" : "NOT REACHED";
}

std::string bound_says(const Bar& bar) {
  const std::string against = bar.against.empty() ? "" : " x " + bar.against;
  return (bar.side == Bar::Side::at_least ? ">= " : "<= ") + in_short(bar.limit) + against;
}

std::string subject_of(const ScenarioReport& report, const Bar& bar) {
  const MetricReport* metric = find(report, bar.row, bar.metric);
  return bar.row + ", " + (metric == nullptr ? bar.metric : metric->metric.title);
}

std::optional<double> told(const ScenarioReport& report, const MetricReport& metric,
                           const std::string& contender) {
  if (metric.metric.kind == Kind::time) return paired_ratio(metric, contender, better_peer(report, metric));
  const Samples* samples = samples_of(metric, contender);
  return samples == nullptr ? std::nullopt : median(*samples);
}

std::string unit_told(const Metric& metric) { return metric.kind == Kind::count ? metric.unit : "ratio"; }

}  // namespace headrace::lab
