// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// What a scenario found, as values: samples by row, metric and contender; the ratios and verdicts follow from
// them. Rendering is in report_text.cpp, report_json.cpp and report_html.cpp. Pure.
namespace headrace::lab {

enum class Better { higher, lower };
// What may be told of a metric: times and rates only as ratios (this machine is not yours), counts, sizes and
// what an emulated link decides as they are.
enum class Kind { time, count };

struct Metric {
  std::string id, title, unit;
  Better better = Better::lower;
  Kind kind = Kind::time;
};

using Samples = std::vector<double>;  // one a turn, in the order of the turns

struct MetricReport {
  Metric metric;
  std::map<std::string, Samples> by_contender;
};

struct RowReport {
  std::string id, title;
  std::vector<MetricReport> metrics;
  std::vector<std::string> absent_peers = {};  // ids: would have taken turns here, were they there
};

// "The ratio of `contender` to `against` is at least (at most) `limit`." `against`: a contender,
// kBetterPeer, or empty for the median itself.
struct Bar {
  enum class Side { at_least, at_most };
  std::string row, metric, contender, against;
  Side side = Side::at_most;
  double limit = 0;
};
inline constexpr const char* kBetterPeer = "better peer";
inline constexpr const char* kDirect = "direct";  // the contender that is no proxy

// What a plot shows: one line (or, with x_labels, one group of bars) a curve. A page is made of them by
// report_html.cpp; the first plot of a scenario is the one that its first page shows.
struct Curve {
  std::string title;
  std::vector<std::pair<double, double>> points;
};

struct Plot {
  std::string id, title, x_title, y_title;
  bool log_y = false;
  std::vector<Curve> curves = {};
  bool log_x = false;
  std::vector<std::string> x_labels = {};  // bars: x of a point is the index of its label
};

struct ReportedContender {
  std::string id, title;
  bool is_peer = false;
};

struct ScenarioReport {
  std::string name, title;
  std::vector<std::string> conditions;     // one sentence each
  int turns = 0;                           // at most; a row may have fewer
  double load_before = 0, load_after = 0;  // of the machine, by /proc/loadavg
  bool judged = true;                      // false: too few turns to hold bars against
  std::vector<ReportedContender> contenders;
  std::vector<ReportedContender> missing;   // could not be had here
  std::vector<ReportedContender> left_out;  // by request
  std::vector<RowReport> rows;
  std::vector<Bar> bars;
  std::vector<Plot> plots;
  std::vector<std::string> notes;  // findings, one sentence each: why a bar is not met, what could not run
};

std::optional<double> median(const Samples& samples);
// The median over the turns of what one has against what the other has in the same turn.
std::optional<double> paired_ratio(const MetricReport& metric, const std::string& contender,
                                   const std::string& against);
std::string better_peer(const ScenarioReport& report,
                        const MetricReport& metric);  // empty when there is none
const MetricReport* find(const ScenarioReport& report, const std::string& row, const std::string& metric);

std::size_t turns_of(const RowReport& row);

struct Verdict {
  std::optional<double> value;            // the median; nothing: one of both is missing
  double low = 0, high = 0;               // of the turns
  std::size_t turns = 0;                  // behind the value
  bool reached = false;                   // by the value
  bool close = false;                     // some turns reach the limit and others don't
  std::vector<std::string> absent_peers;  // ids: one of them may be the better peer
};
Verdict judge(const ScenarioReport& report, const Bar& bar);
bool is_judged(const ScenarioReport& report, const Verdict& verdict);

struct Tally {
  std::size_t reached = 0, close = 0, judged = 0, all = 0;
};
Tally tally_of(const ScenarioReport& report);

// The bar that is the furthest beyond its limit or, when none is, the nearest to it, by share of the limit. A
// bar of kDirect says that there is something to cure: it matters only when it is missed.
const Bar* tightest_bar(const ScenarioReport& report);  // nullptr: none could be held against its limit

// What people are told, alike in the text and on the page.
std::string in_short(std::optional<double> value);  // "0.84", "1240"; "-" of nothing
std::string range_says(const Verdict& verdict);     // "0.84 (0.78-0.91)"
std::string turns_say(std::size_t turns);           // "1 turn", "5 turns"
std::string verdict_says(const ScenarioReport& report, const Verdict& verdict);
std::string bound_says(const Bar& bar);                                // "<= 0.90 x better peer"
std::string subject_of(const ScenarioReport& report, const Bar& bar);  // "ping_pong, p50"
// A count as its median, a time or rate as its ratio to the better peer.
std::optional<double> told(const ScenarioReport& report, const MetricReport& metric,
                           const std::string& contender);
std::string unit_told(const Metric& metric);

// One sentence for each contender that this scenario is without.
std::vector<std::string> absences(const ScenarioReport& report);
// How many bars of which scenarios could not be judged; empty when all could.
std::string unjudged_says(const std::vector<ScenarioReport>& reports);

std::string as_text(const ScenarioReport& report);

// Where and when it was measured.
struct Machine {
  std::string date;  // UTC, "2025-01-31 12:00"
  std::string kernel;
  std::string processors;
  std::vector<std::pair<std::string, std::string>> versions;  // of programs, by name
};

std::string as_json(const std::vector<ScenarioReport>& reports,
                    const Machine& machine);  // documented in bench/README.md

}  // namespace headrace::lab
