// SPDX-License-Identifier: GPL-3.0-or-later
// Scenario `scale`: what stays flat when sessions and policies become many. headrace alone: the bars are
// against its own figures with few, or absolute.
#include <algorithm>
#include <array>

#include "bench/speed/progress.hpp"
#include "bench/speed/scale_parts.hpp"
#include "bench/speed/scenario.hpp"
#include "bench/speed/turns.hpp"
#include "bench/speed/usage.hpp"

namespace headrace::lab {
namespace {

constexpr int kTurns = 5, kQuickTurns = 1;
constexpr std::array<int, 4> kSessions{10, 100, 1'000, 8'000};
constexpr std::array<int, 4> kPolicies{10, 1'000, 10'000, 100'000};
constexpr const char* kOurs = "headrace";

MetricReport& metric(RowReport& row, const std::string& id, const std::string& title,
                     const std::string& unit) {
  const auto found = std::find_if(row.metrics.begin(), row.metrics.end(),
                                  [&](const MetricReport& one) { return one.metric.id == id; });
  if (found != row.metrics.end()) return *found;
  row.metrics.push_back({{id, title, unit, Better::lower, Kind::count}, {}});
  return row.metrics.back();
}

void add(RowReport& row, const std::string& id, const std::string& title, const std::string& unit,
         double value) {
  metric(row, id, title, unit).by_contender[kOurs].push_back(value);
}

void say(const std::string& what) {
  throw_if_interrupted();
  if (takes_no_more_turns()) throw Interrupted();
  show_progress("  " + what);
}

std::string number(int value) {
  std::string text = std::to_string(value);
  for (std::ptrdiff_t at = std::ssize(text) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

// Each turn against its own ten sessions, so that a machine that slows down between turns does not count.
RowReport sessions_row(const ScenarioRequest& request, int turns, std::vector<std::string>& notes) {
  RowReport row{"sessions", "CPU an exchange of 64 bytes, against that with ten live sessions", {}};
  const int exchanges = request.quick ? 8'000 : 40'000;
  std::vector<int> counts(kSessions.begin(), kSessions.end());
  while (const auto reason = why_no_room(counts.back())) {
    notes.push_back(*reason);
    counts.pop_back();
  }
  for (int turn = 0; turn < turns; ++turn) {
    SessionCost few;
    for (const int sessions : counts) {
      say("sessions, turn " + std::to_string(turn + 1) + " of " + std::to_string(turns) + ": " +
          number(sessions));
      const SessionCost cost = cost_with_sessions(request.headrace, sessions, exchanges);
      if (sessions == counts.front()) few = cost;
      const std::string live = std::to_string(sessions);
      add(row, "spread_" + live, number(sessions) + " live, all busy", "x", cost.spread / few.spread);
      add(row, "one_" + live, number(sessions) + " live, one busy", "x", cost.one / few.one);
    }
  }
  return row;
}

RowReport reload_row(const ScenarioRequest& request, int turns) {
  RowReport row{"reload", "Reload after one policy was changed", {}};
  for (int turn = 0; turn < turns; ++turn) {
    for (const int policies : kPolicies) {
      if (request.quick && policies == kPolicies.back()) continue;  // nft takes its time there
      say("reload, turn " + std::to_string(turn + 1) + " of " + std::to_string(turns) + ": " +
          number(policies));
      const ReloadCost cost = cost_of_reload(request.headrace, policies);
      const std::string id = "_" + std::to_string(policies);
      const std::string of = number(policies) + " policies, ";
      add(row, "own" + id, of + "without nft", "s", cost.own);
      add(row, "cpu" + id, of + "CPU of headrace", "s", cost.cpu);
      add(row, "nft" + id, of + "nft itself", "s", cost.nft);
      add(row, "start" + id, of + "start", "s", cost.start);
      add(row, "share" + id, of + "of the rules sent to nft", "%", 100 * cost.sent / cost.sent_at_start);
      add(row, "same" + id, of + "sent when nothing changed", "%",
          100 * cost.sent_unchanged / cost.sent_at_start);
    }
  }
  return row;
}

// "lookup/hosts/100000" becomes row "lookup", metric "hosts_100000".
std::vector<RowReport> micro_rows(const MicroResults& results) {
  const std::array<std::pair<const char*, const char*>, 3> titles{
      {{"lookup", "Policy lookup: a decision"},
       {"grouping", "Policies into listener classes: all of them"},
       {"pump", "Pump: one run over so many bytes"}}};
  std::vector<RowReport> rows;
  for (const auto& [id, title] : titles) {
    RowReport row{id, title, {}};
    for (const auto& [name, times] : results) {
      const auto slash = name.find('/');
      if (name.substr(0, slash) != id) continue;
      std::string what = name.substr(slash + 1);
      std::string metric_id = what;
      std::replace(metric_id.begin(), metric_id.end(), '/', '_');
      std::replace(what.begin(), what.end(), '/', ' ');
      for (const double time : times) add(row, metric_id, what, "ns", time);
    }
    if (!row.metrics.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Bar> scale_bars() {
  using enum Bar::Side;
  std::vector<Bar> bars;
  for (const int sessions : kSessions) {
    if (sessions == kSessions.front()) continue;  // what the others are held against
    for (const char* metric : {"spread_", "one_"})
      bars.push_back({"sessions", metric + std::to_string(sessions), kOurs, "", at_most, 1.2});
  }
  const std::vector<Bar> absolute{{"lookup", "hosts_100000", kOurs, "", at_most, 500},
                                  {"lookup", "lengths_100000", kOurs, "", at_most, 500},
                                  {"lookup", "sources_100000", kOurs, "", at_most, 500},
                                  {"reload", "own_100000", kOurs, "", at_most, 1},
                                  {"reload", "share_100000", kOurs, "", at_most, 1},
                                  {"reload", "same_100000", kOurs, "", at_most, 0}};
  bars.insert(bars.end(), absolute.begin(), absolute.end());
  return bars;
}

// The medians of metrics PREFIX_N over N.
Curve curve(const ScenarioReport& report, const std::string& row, const std::string& prefix,
            const char* title) {
  Curve made{title, {}};
  for (const RowReport& one : report.rows) {
    if (one.id != row) continue;
    for (const MetricReport& candidate : one.metrics) {
      const std::string& id = candidate.metric.id;
      if (!id.starts_with(prefix + "_")) continue;
      const auto value = told(report, candidate, kOurs);
      if (value) made.points.emplace_back(std::stod(id.substr(prefix.size() + 1)), *value);
    }
  }
  std::sort(made.points.begin(), made.points.end());
  return made;
}

std::vector<Plot> scale_plots(const ScenarioReport& report) {
  std::vector<Plot> plots;
  const auto add_plot = [&](Plot plot, bool log_y, std::vector<Curve> curves) {
    std::erase_if(curves, [](const Curve& one) { return one.points.empty(); });
    if (curves.empty()) return;
    plot.log_x = true;
    plot.log_y = log_y;
    plot.curves = std::move(curves);
    plots.push_back(std::move(plot));
  };
  add_plot(
      {"sessions", "Scale: CPU an exchange while sessions become many", "live sessions", "x that of ten"},
      false,
      {curve(report, "sessions", "spread", "all busy in turn"),
       curve(report, "sessions", "one", "one busy")});
  add_plot({"lookup", "Scale: a policy decision while policies become many", "policies", "ns"}, false,
           {curve(report, "lookup", "hosts", "a host each"),
            curve(report, "lookup", "lengths", "17 prefix lengths"),
            curve(report, "lookup", "sources", "a source each")});
  add_plot({"reload", "Scale: a reload while policies become many", "policies", "seconds"}, true,
           {curve(report, "reload", "own", "headrace"), curve(report, "reload", "nft", "nft")});
  return plots;
}

// What was measured beside a bar of the reload, where it is missed.
void explain_reload(ScenarioReport& report) {
  const auto value = [&](const char* id) {
    const MetricReport* found = find(report, "reload", id);
    return found == nullptr ? std::nullopt : told(report, *found, kOurs);
  };
  const auto own = value("own_100000"), cpu = value("cpu_100000"), nft = value("nft_100000"),
             share = value("share_100000"), same = value("same_100000");
  if (own && *own > 1)
    report.notes.push_back("reload at 100,000 policies: of " + in_short(own) + " s without nft, " +
                           in_short(cpu) + " s are processor time of headrace; the machine's load was " +
                           in_short(report.load_before) + " before and " + in_short(report.load_after) +
                           " after");
  if (share && *share > 1)
    report.notes.push_back("reload at 100,000 policies: one was changed, and nft was given " +
                           in_short(share) + " % of the rules, which took it " + in_short(nft) + " s; " +
                           in_short(same) + " % when nothing was changed");
}

bool is_wanted(const ScenarioRequest& request, const std::string& row) {
  const auto& rows = request.rows;
  return rows.empty() || std::find(rows.begin(), rows.end(), row) != rows.end();
}

void measure(const ScenarioRequest& request, ScenarioReport& report) {
  if (is_wanted(request, "sessions"))
    report.rows.push_back(sessions_row(request, report.turns, report.notes));
  if (is_wanted(request, "reload")) report.rows.push_back(reload_row(request, report.turns));
  const bool wants_micro =
      is_wanted(request, "lookup") || is_wanted(request, "grouping") || is_wanted(request, "pump");
  if (!wants_micro) return;
  say("micro-benchmarks");
  const auto results = run_micro(report.turns, request.quick);
  if (!results) {
    report.notes.emplace_back("lookup, grouping and pump were not measured: built without Google Benchmark");
    return;
  }
  for (RowReport& row : micro_rows(*results)) {
    if (is_wanted(request, row.id)) report.rows.push_back(std::move(row));
  }
}

}  // namespace

ScenarioReport run_scale(const ScenarioRequest& request) {
  ScenarioReport report;
  report.name = "scale";
  report.turns = request.quick ? kQuickTurns : kTurns;
  report.judged = !request.quick;
  report.contenders = {{kOurs, "headrace inline (tproxy)", false}};
  report.conditions = {
      "sessions: one worker on one CPU, both ends on the other; one exchange at a time, over all sessions in "
      "turn "
      "or on one of them",
      "reload: `headrace reload` from its start to its end, of a file with one host and one port a policy; "
      "nft's own "
      "time apart",
      "lookup, grouping: time of the thread, by Google Benchmark; pump: time of the clock around run() "
      "alone"};
  report.conditions.emplace_back(
      "5 turns of sessions and reload, 5 repetitions of the others (--quick: 1, and no reload of 100,000)");
  if (const auto reason = why_not_pinned()) report.notes.push_back(*reason);
  report.load_before = load_average();
  measure(request, report);
  report.load_after = load_average();
  explain_reload(report);
  for (const Bar& bar : scale_bars()) {
    if (is_wanted(request, bar.row)) report.bars.push_back(bar);
  }
  report.plots = scale_plots(report);
  return report;
}

}  // namespace headrace::lab
