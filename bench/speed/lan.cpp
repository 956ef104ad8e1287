// SPDX-License-Identifier: GPL-3.0-or-later
// Scenario `lan`: veth without any emulation, so that nothing but the relays' own cost is seen.
#include "bench/speed/lan_rows.hpp"
#include "bench/speed/ratio_plot.hpp"
#include "bench/speed/scenario_plan.hpp"
#include "bench/speed/usage.hpp"

namespace headrace::lab {
namespace {

std::vector<Contender> lan_contenders() {
  return {
      {"direct", "routed, no proxy", Carrier::direct},
      {"headrace", "headrace, explicit forwarder as the peers are", Carrier::headrace_forward},
      {"busy_poll", "the same, busy_poll = 50us", Carrier::headrace_forward, false, "busy_poll = \"50us\""},
      {"inline", "headrace, inline (tproxy)", Carrier::headrace_inline},
      {"haproxy", "haproxy, splice-auto (does not splice here)", Carrier::haproxy, true, "splice-auto"},
      {"haproxy-s", "haproxy, splice always", Carrier::haproxy, true, "splice-request\nsplice-response"},
      {"haproxy-bp", "haproxy, splice-auto, busy-polling: spins as busy_poll does", Carrier::haproxy, false,
       "splice-auto\nglobal busy-polling"},
      {"nginx", "nginx stream", Carrier::nginx, true},
      {"nginx-64k", "nginx stream, proxy_buffer_size 64k", Carrier::nginx, true, "64k"},
      {"floor", "headrace-floor, the least that a relay of sockets can do", Carrier::floor},
  };
}

// scenarios.md, row `lan`. The last ones are the promise of one wait, one recv, one send a message, and of
// splice for bulk; the margin is for the first and the last message and for timers.
std::vector<Bar> lan_bars() {
  using enum Bar::Side;
  constexpr double kOnce = 1.02;
  return {{"bulk", "rate", "headrace", "haproxy", at_least, 3.5},
          {"bulk", "rate", "headrace", "nginx", at_least, 1.9},
          {"bulk", "cpu", "headrace", "haproxy", at_most, 0.15},
          {"bulk", "cpu", "headrace", "nginx", at_most, 0.30},
          {"ping_pong", "p50", "headrace", kBetterPeer, at_most, 0.9},
          {"ping_pong", "p99", "headrace", kBetterPeer, at_most, 0.9},
          {"ping_pong", "p50", "busy_poll", kBetterPeer, at_most, 0.7},
          {"ping_pong", "p99", "busy_poll", kBetterPeer, at_most, 0.7},
          {"connections", "cpu", "headrace", kBetterPeer, at_most, 0.8},
          {"connections", "rate", "headrace", kBetterPeer, at_least, 1.0},
          {"idle", "memory", "headrace", "", at_most, 1024},
          {"message_calls", "wait", "headrace", "", at_most, kOnce},
          {"message_calls", "receive", "headrace", "", at_most, kOnce},
          {"message_calls", "send", "headrace", "", at_most, kOnce},
          {"message_calls", "setsockopt", "headrace", "", at_most, kOnce},
          {"message_calls", "other", "headrace", "", at_most, kOnce - 1},
          {"bulk_calls", "splice", "headrace", "", at_least, 95}};
}

// Most first: what a reader of one plot should see is where headrace stands.
std::vector<Plot> lan_plots(const ScenarioReport& report) {
  const std::vector<std::string> ours_and_peers{"headrace",  "busy_poll",  "inline", "haproxy",
                                                "haproxy-s", "haproxy-bp", "nginx",  "nginx-64k"};
  const std::string ratio = "ratio to the better peer";
  const auto bars = [&](const char* id, const char* title, const std::vector<Compared>& groups) {
    Plot plot;
    plot.id = id;
    plot.title = title;
    plot.y_title = ratio;
    return compare(report, plot, groups, ours_and_peers);
  };
  std::vector<Plot> plots;
  for (auto& plot :
       {bars("cost", "LAN, what it costs: lower is better, 1 is the better of haproxy and nginx",
             {{"ping_pong", "p50", "round trip, p50"},
              {"ping_pong", "p99", "round trip, p99"},
              {"ping_pong", "cpu", "CPU a round trip"},
              {"bulk", "cpu", "CPU a byte"},
              {"connections", "cpu", "CPU a connection"}}),
        bars("rate", "LAN, how much it carries: higher is better, 1 is the better of haproxy and nginx",
             {{"bulk", "rate", "bulk, cubic"},
              {"bulk_bbr", "rate", "bulk, bbr"},
              {"connections", "rate", "connections a second"}}),
        bars("tail", "LAN, 64-byte round trip by percentile: where the tail begins",
             {{"ping_pong", "p50", "p50"}, {"ping_pong", "p99", "p99"}, {"ping_pong", "p999", "p99.9"}})}) {
    if (plot) plots.push_back(*plot);
  }
  return plots;
}

// Of each bar that is missed: where the least that a relay can do stands, measured in the same turns.
void hold_against_the_floor(ScenarioReport& report) {
  for (Bar bar : report.bars) {
    const Verdict ours = judge(report, bar);
    if (!is_judged(report, ours) || ours.reached || bar.against.empty()) continue;
    bar.contender = "floor";
    const Verdict floor = judge(report, bar);
    if (!floor.value) continue;
    report.notes.push_back(
        subject_of(report, bar) + " against " + bar.against + ": floor has " + range_says(floor) +
        (floor.reached ? ", which is within the bar" : ": a relay that does nothing else misses it too"));
  }
}

}  // namespace

ScenarioReport run_lan(const ScenarioRequest& request) {
  ScenarioReport report = carry_out(
      {"lan",
       {"veth; one worker each; cubic on every leg unless a row says otherwise, by route; nobody logs "
        "connections",
        "latency and connections: proxy on one CPU, both ends on the other; bulk: nobody is pinned",
        "CPU: user and system time of the proxy's own processes; soft interrupts only as far as they ran "
        "there",
        "every turn in a fresh lab with one contender; turns interleaved: 5 of each, 3 of idle and of system "
        "calls "
        "(--quick: 1)",
        "busy_poll and haproxy-bp spin: their price is the CPU a round trip; haproxy-bp is not a peer of the "
        "bars",
        "floor: one epoll, one wait, recv and send a message, splice for bulk, both ends closed at the first "
        "end, and nothing else; not a peer of the bars"},
       lan_contenders(),
       lan_rows(),
       lan_bars(),
       5,
       1,
       lan_plots},
      request);
  hold_against_the_floor(report);
  if (const auto reason = why_not_pinned()) report.notes.push_back(*reason);
  return report;
}

}  // namespace headrace::lab
