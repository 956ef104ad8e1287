// SPDX-License-Identifier: GPL-3.0-or-later
// Scenario `sqlplus`: questions and answers over a WAN, with the server's bursts throttled in three ways. How
// many round trips an exchange takes, the first, every later one and after pauses.
#include <algorithm>
#include <optional>

#include "bench/lab/temp_dir.hpp"
#include "bench/moderated/moderated_congestion.hpp"
#include "bench/speed/scenario_plan.hpp"
#include "bench/speed/sqlplus_rows.hpp"

namespace headrace::lab {
namespace {

constexpr double kMostTrips = 1.05;  // and what the exchange takes without a WAN
constexpr const char* kModerated = "moderated";

std::string kernels_default() {
  std::string name = read_file("/proc/sys/net/ipv4/tcp_congestion_control");
  name.erase(name.find_last_not_of('\n') + 1);
  return name;
}

// Beside cubic and the moderated server the middle is on cubic: what headrace's profile asks for, and the
// peers have no setting for, but a host has.
std::vector<SqlplusServer> servers(const std::optional<ModeratedCongestion>& moderated) {
  std::vector<SqlplusServer> all{{"default", "kernel default (" + kernels_default() + ")", "", ""},
                                 {"cubic", "cubic", "cubic", "cubic"}};
  if (moderated) all.push_back({kModerated, kModerated, moderated->name(), "cubic"});
  return all;
}

// The rows are held against what the row of the LAN measures, so it is always one of them.
ScenarioRequest with_lan_row(ScenarioRequest request) {
  if (!request.rows.empty()) request.rows.emplace_back(kLanExchange);
  return request;
}

std::optional<double> lan_milliseconds(const ScenarioReport& report, const std::string& id) {
  const MetricReport* metric = find(report, kLanExchange, id);
  if (metric == nullptr) return std::nullopt;
  const auto samples = metric->by_contender.find("direct");
  return samples == metric->by_contender.end() ? std::nullopt : median(samples->second);
}

// scenarios.md, row `sqlplus`. The bar of `direct` is that the story is there to be cured.
std::vector<Bar> sqlplus_bars(const ScenarioReport& report, const std::vector<SqlplusCase>& cases) {
  std::vector<Bar> bars;
  for (const SqlplusCase& one : cases) {
    if (find(report, one.id(), "steady") == nullptr) continue;
    const auto limit = [&](const std::string& lan_metric) {
      return kMostTrips +
             lan_milliseconds(report, lan_metric).value_or(0) / static_cast<double>(one.rtt.count());
    };
    const double first = limit(one.lan_metric() + "_first");  // a server's first answer is slower there too
    const double later = limit(one.lan_metric());
    for (const auto& [metric, most] : {std::pair{"first", first}, {"steady", later}, {"paused", later}})
      bars.push_back({one.id(), metric, "headrace", "", Bar::Side::at_most, most});
    if (one.server.id != kModerated) continue;
    bars.push_back({one.id(), "steady", "direct", "", Bar::Side::at_least, one.answer < 10'000 ? 1.9 : 2.8});
  }
  return bars;
}

std::vector<std::string> conditions() {
  return {
      "headrace beside the server, the WAN on the clients' side: 100 Mbit/s, no loss, a queue that drops "
      "nothing",
      "round trips = (time from the request's first byte to the answer's last - what the bytes take at "
      "100 Mbit/s) / RTT; NODELAY at both ends; the client's socket has the kernel's default congestion "
      "control",
      "a turn: the first exchange of nine connections; on the last of them 200 back to back, then 20 after "
      "0.5 s of silence each; medians of each (--quick: 3, 20 and 4)",
      "headrace: a bare policy (name, to, ports); haproxy and nginx: their defaults; in the middle "
      "net.ipv4.tcp_slow_start_after_idle = 0 in every row, whoever is there",
      "congestion control of the middle: beside a server on cubic or moderated cubic, by route and locked, "
      "whoever is there; beside one on the kernel's default what a host gives by default: the peers have the "
      "kernel's default on both legs, headrace cubic towards the client, as its profile asks",
      "turns: 5 at 10 ms, 3 at 40 ms, 2 at 100 and 300 ms, where one takes minutes, 3 of the exchange "
      "without "
      "a WAN: the link decides these values, and they repeat 200 times within a turn (--quick: 1 of each, "
      "and "
      "no row of 300 ms)",
      "turns of different rows run side by side, each in its own lab, everything at nice -15: the link "
      "and not the machine decides; the exchange without a WAN is measured alone, at nice -15 too",
  };
}

}  // namespace

ScenarioReport run_sqlplus(const ScenarioRequest& request) {
  const auto reason = ModeratedCongestion::why_not();
  std::optional<ModeratedCongestion> moderated;
  if (!reason) moderated.emplace();
  const std::vector<SqlplusServer> kinds = servers(moderated);
  SqlplusTrace trace;
  ScenarioPlan plan{"sqlplus", conditions(), with_a_bare_policy(), sqlplus_rows(kinds, trace), {}, 5, 1};
  // A turn takes longest there; a row that is asked for by name can be had.
  if (request.quick && request.rows.empty())
    std::erase_if(plan.rows, [](const Row& row) { return row.id.starts_with("rtt300_"); });
  ScenarioReport report = carry_out(plan, with_lan_row(request));
  report.bars = sqlplus_bars(report, sqlplus_cases(kinds));
  report.plots = trace.plots();
  if (reason) report.notes.push_back("no moderated server, and no row with one: " + *reason);
  return report;
}

}  // namespace headrace::lab
