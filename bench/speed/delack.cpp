// SPDX-License-Identifier: GPL-3.0-or-later
// Scenario `delack`: small messages with Nagle at both ends, where a segment waits for an acknowledgement
// that the other end delays.
#include <algorithm>
#include <chrono>
#include <mutex>

#include "bench/speed/scenario_plan.hpp"
#include "bench/speed/workload_server.hpp"
#include "bench/workload/small_messages.hpp"

namespace headrace::lab {
namespace {

constexpr const char* kService = "messages";
constexpr int kServerPort = 7000, kRelayPort = 8000;
constexpr double kShare = 1. / 16;  // nearly all of the time everybody waits for a timer
constexpr int kQuickly = 5;         // times fewer

struct DelackCase {
  std::string id, title, unit;
  std::string drawn;  // title of its plot; empty: none
  std::chrono::nanoseconds rtt{0};
  SmallMessageSettings load = {};
};

// Ten messages a round, and so often.
SmallMessageSettings rounds() {
  SmallMessageSettings load;
  load.rounds = 100;
  return load;
}

// One request and its answer at a time; a round is a request here.
SmallMessageSettings requests() {
  SmallMessageSettings load;
  load.messages = 1;
  load.rounds = 1000;
  load.in_two_parts = 10;
  load.pause = 5ms;
  return load;
}

std::vector<DelackCase> cases() {
  const std::string ten = "10 x 132 B a round", parts = "one request in ten written in two parts";
  return {
      {"rounds_lan", ten + ", LAN", "rounds", ten + " on a LAN: what each read of five rounds waits", 0ms,
       rounds()},
      {"rounds_rtt5", ten + ", RTT 5 ms", "rounds", "", 5ms, rounds()},
      {"parts_lan", parts + ", LAN", "requests", parts + ", on a LAN: what each of fifty waits", 0ms,
       requests()},
      {"parts_rtt5", parts + ", RTT 5 ms", "requests", "", 5ms, requests()},
  };
}

// What plots show beside the numbers. Filled by turns that run side by side; what came first stays.
class Waits {
 public:
  void keep(const DelackCase& one, const std::string& contender, const SmallMessageReport& report) {
    if (one.drawn.empty() || (contender != "direct" && contender != "headrace")) return;
    const std::lock_guard lock(mutex_);
    Plot& plot = plot_of(one);
    const auto same = [&](const Curve& curve) { return curve.title == contender; };
    if (std::any_of(plot.curves.begin(), plot.curves.end(), same)) return;
    plot.curves.push_back({contender, points(report)});
    std::sort(plot.curves.begin(), plot.curves.end(),
              [](const Curve& left, const Curve& right) { return left.title < right.title; });
  }

  std::vector<Plot> plots() const { return plots_; }

 private:
  static constexpr std::size_t kFirst = 20, kReads = 50;  // after the first ones, in which nobody delays yet

  static std::vector<std::pair<double, double>> points(const SmallMessageReport& report) {
    std::vector<std::pair<double, double>> all;
    for (const auto& round : report.waits) {
      for (const auto wait : round)
        all.emplace_back(all.size() + 1, std::chrono::duration<double, std::milli>(wait).count());
    }
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(kFirst, all.size())));
    all.resize(std::min(kReads, all.size()));
    return all;
  }

  Plot& plot_of(const DelackCase& one) {
    const std::string id = "waits_" + one.id;
    const auto same = [&](const Plot& plot) { return plot.id == id; };
    const auto found = std::find_if(plots_.begin(), plots_.end(), same);
    if (found != plots_.end()) return *found;
    Plot plot;
    plot.id = id;
    plot.title = one.drawn;
    plot.x_title = "read";
    plot.y_title = "ms";
    plot.log_y = true;
    return plots_.emplace_back(std::move(plot));
  }

  std::mutex mutex_;
  std::vector<Plot> plots_;
};

LabSpec lab_for(std::chrono::nanoseconds rtt) {
  LabSpec spec;
  if (rtt > 0ns) spec.net.client_link = LinkSettings::round_trip(rtt);
  spec.services = {{kService, endpoint(kMiddleWan4, kRelayPort), endpoint(kServer4, kServerPort)}};
  spec.policies = "[[policy]]\nname = \"messages\"\nto = [\"198.18.2.0/24\"]\nports = [" +
                  std::to_string(kServerPort) + "]\n";
  return spec;
}

std::vector<double> measure(const Turn& turn, const DelackCase& one, Waits& waits) {
  const Process server = start_workload_server(turn.lab, "messages-server", turn.lab.service(kService).to);
  SmallMessageSettings load = one.load;
  if (turn.quick) load.rounds /= kQuickly;
  const SmallMessageReport report =
      turn.lab.net.client.run([&] { return run_small_messages(turn.contender.place(kService), load); });
  waits.keep(one, turn.contender.id(), report);
  return {100. * report.stalled_rounds / load.rounds,
          std::chrono::duration<double, std::milli>(report.worst).count()};
}

std::vector<Row> delack_rows(Waits& waits) {
  std::vector<Row> rows;
  for (const DelackCase& one : cases())
    rows.push_back({one.id,
                    one.title,
                    {{"stalled", one.unit + " that waited", "%", Better::lower, Kind::count},
                     {"worst", "longest wait", "ms", Better::lower, Kind::count}},
                    {"direct", "headrace", "haproxy", "nginx"},
                    lab_for(one.rtt),
                    [one, &waits](const Turn& turn) { return measure(turn, one, waits); },
                    0,
                    kShare});
  return rows;
}

// scenarios.md, row `delack`. The bars of `direct` are that the story is there to be cured.
std::vector<Bar> delack_bars() {
  using enum Bar::Side;
  return {{"rounds_lan", "stalled", "headrace", "", at_most, 0},
          {"rounds_rtt5", "stalled", "headrace", "", at_most, 0},
          {"parts_lan", "stalled", "headrace", "", at_most, 0},
          {"parts_rtt5", "stalled", "headrace", "", at_most, 0},
          {"rounds_lan", "stalled", "direct", "", at_least, 90},
          {"rounds_rtt5", "stalled", "direct", "", at_least, 90},
          {"parts_lan", "stalled", "direct", "", at_least, 9},
          {"parts_rtt5", "stalled", "direct", "", at_least, 9}};
}

}  // namespace

ScenarioReport run_delack(const ScenarioRequest& request) {
  Waits waits;
  ScenarioReport report = carry_out(
      {"delack",
       {"no NODELAY at either end; the server echoes message by message; a read that takes 30 ms or longer "
        "has waited",
        "rounds: 100 of 10 x 132 B written back to back, 0.1 s apart; requests: 1,000 of 132 B one after the "
        "other, 5 ms apart, every tenth written with two calls (--quick: a fifth of both)",
        "LAN: veth; RTT 5 ms: on the clients' side, no limit of rate",
        "headrace: a bare policy (name, to, ports); haproxy and nginx: their defaults",
        "5 turns (--quick: 1): the kernel's timers decide these values; turns run side by side, each in a "
        "lab of its own, "
        "everything at nice -15"},
       with_a_bare_policy(),
       delack_rows(waits),
       delack_bars(),
       5,
       1},
      request);
  report.plots = waits.plots();
  return report;
}

}  // namespace headrace::lab
