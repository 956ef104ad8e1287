// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/report.hpp"

#include <algorithm>
#include <iomanip>
#include <limits>
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

Samples paired_ratios(const MetricReport& metric, const std::string& contender, const std::string& against) {
  const Samples* ours = samples_of(metric, contender);
  const Samples* theirs = samples_of(metric, against);
  Samples ratios;
  if (ours == nullptr || theirs == nullptr) return ratios;
  for (std::size_t turn = 0; turn < std::min(ours->size(), theirs->size()); ++turn) {
    if ((*theirs)[turn] > 0) ratios.push_back((*ours)[turn] / (*theirs)[turn]);
  }
  return ratios;
}

// What a bar holds against its limit, one a turn.
Samples held(const ScenarioReport& report, const MetricReport& metric, const Bar& bar) {
  if (!bar.against.empty()) {
    const bool is_any = bar.against == kBetterPeer;
    return paired_ratios(metric, bar.contender, is_any ? better_peer(report, metric) : bar.against);
  }
  const Samples* samples = samples_of(metric, bar.contender);
  return samples == nullptr ? Samples() : *samples;
}

bool reaches(const Bar& bar, double value) {
  return bar.side == Bar::Side::at_least ? value >= bar.limit : value <= bar.limit;
}

// How far the value is on the good side of its limit, as a share of that. Of nothing there are no shares: a
// limit of 0 is kept in full or missed by far.
double margin(const Bar& bar, double value) {
  if (bar.contender == kDirect && reaches(bar, value)) return std::numeric_limits<double>::max();
  if (bar.limit == 0) return reaches(bar, value) ? 1 : -std::numeric_limits<double>::infinity();
  const double share = value / bar.limit;
  return bar.side == Bar::Side::at_least ? share - 1 : 1 - share;
}

std::vector<std::string> absent_peers(const ScenarioReport& report, const std::string& row) {
  for (const RowReport& one : report.rows) {
    if (one.id == row) return one.absent_peers;
  }
  return {};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
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
  return median(paired_ratios(metric, contender, against));
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

std::size_t turns_of(const RowReport& row) {
  std::size_t turns = 0;
  for (const MetricReport& metric : row.metrics) {
    for (const auto& [contender, samples] : metric.by_contender) turns = std::max(turns, samples.size());
  }
  return turns;
}

Verdict judge(const ScenarioReport& report, const Bar& bar) {
  Verdict verdict;
  const MetricReport* metric = find(report, bar.row, bar.metric);
  if (bar.against == kBetterPeer) verdict.absent_peers = absent_peers(report, bar.row);
  if (metric == nullptr) return verdict;
  const Samples samples = held(report, *metric, bar);
  if (samples.empty()) return verdict;
  const auto [lowest, highest] = std::minmax_element(samples.begin(), samples.end());
  verdict.value = median(samples);
  verdict.low = *lowest;
  verdict.high = *highest;
  verdict.turns = samples.size();
  verdict.reached = reaches(bar, *verdict.value);
  verdict.close = reaches(bar, verdict.low) != reaches(bar, verdict.high);
  return verdict;
}

bool is_judged(const ScenarioReport& report, const Verdict& verdict) {
  return verdict.value && report.judged && verdict.absent_peers.empty();
}

Tally tally_of(const ScenarioReport& report) {
  Tally tally{0, 0, 0, report.bars.size()};
  for (const Bar& bar : report.bars) {
    const Verdict verdict = judge(report, bar);
    if (!is_judged(report, verdict)) continue;
    ++tally.judged;
    if (verdict.reached) ++tally.reached;
    if (verdict.close) ++tally.close;
  }
  return tally;
}

const Bar* tightest_bar(const ScenarioReport& report) {
  const Bar* tightest = nullptr;
  double least = 0;
  for (const Bar& bar : report.bars) {
    const Verdict verdict = judge(report, bar);
    if (!verdict.value || !verdict.absent_peers.empty()) continue;
    const double candidate = margin(bar, *verdict.value);
    if (tightest != nullptr && candidate >= least) continue;
    tightest = &bar;
    least = candidate;
  }
  return tightest;
}

std::string in_short(std::optional<double> value) {
  if (!value) return "-";
  std::ostringstream text;
  text << std::fixed << std::setprecision(*value < 20 ? 2 : 0) << *value;
  return text.str();
}

std::string range_says(const Verdict& verdict) {
  const std::string value = in_short(verdict.value);
  if (verdict.turns < 2) return value;
  return value + " (" + in_short(verdict.low) + "-" + in_short(verdict.high) + ")";
}

std::string turns_say(std::size_t turns) { return std::to_string(turns) + (turns == 1 ? " turn" : " turns"); }

std::string verdict_says(const ScenarioReport& report, const Verdict& verdict) {
  if (!verdict.absent_peers.empty())
    return "not judged: " + joined(verdict.absent_peers) +
           (verdict.absent_peers.size() == 1 ? " is missing" : " are missing");
  if (!verdict.value) return "not measured";
  if (!report.judged) return "not judged";
  if (verdict.close)
    return std::string(verdict.reached ? "reached" : "not reached") + ", too close to tell from " +
           turns_say(verdict.turns);
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

std::vector<std::string> absences(const ScenarioReport& report) {
  std::vector<std::string> sentences;
  for (const ReportedContender& one : report.missing)
    sentences.push_back(one.id + " (" + one.title + ") is missing: could not be had here");
  for (const ReportedContender& one : report.left_out)
    sentences.push_back(one.id + " (" + one.title + ") was left out by --contender");
  return sentences;
}

std::string unjudged_says(const std::vector<ScenarioReport>& reports) {
  std::size_t unjudged = 0;
  std::vector<std::string> scenarios;
  for (const ScenarioReport& report : reports) {
    const Tally tally = tally_of(report);
    if (tally.judged == tally.all) continue;
    unjudged += tally.all - tally.judged;
    scenarios.push_back(report.name + " (" + std::to_string(tally.all - tally.judged) + ")");
  }
  if (unjudged == 0) return {};
  return std::to_string(unjudged) + (unjudged == 1 ? " bar" : " bars") +
         " could not be judged: " + joined(scenarios);
}

std::string unit_told(const Metric& metric) { return metric.kind == Kind::count ? metric.unit : "ratio"; }

}  // namespace headrace::lab
