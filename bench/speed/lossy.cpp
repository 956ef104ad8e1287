// SPDX-License-Identifier: GPL-3.0-or-later
// Scenario `lossy`: a long path that loses packets for other reasons than congestion.
#include "bench/speed/curves.hpp"
#include "bench/speed/scenario_plan.hpp"
#include "bench/speed/transfer.hpp"

namespace headrace::lab {
namespace {

constexpr std::uint64_t kRate = 50'000'000;  // bit/s
constexpr auto kRoundTrip = 100ms;
constexpr std::uint64_t kQueue = 625'000;  // what the path holds in a round trip
constexpr double kLoss = 0.005;
constexpr std::uint64_t kSize = 60'000'000, kQuickSize = 10'000'000;
constexpr int kPort = 7200, kRelay = 8300;
constexpr double kStep = 0.5;  // seconds a point of the plot

LabSpec lab() {
  LabSpec spec;
  spec.net.client_link = LinkSettings::round_trip(kRoundTrip, kRate, kQueue);
  spec.net.client_link->a_to_b.loss = spec.net.client_link->b_to_a.loss = kLoss;
  spec.services = {{"transfer", endpoint(kMiddleWan4, kRelay), endpoint(kServer4, kPort)}};
  spec.policies =
      "[[policy]]\nname = \"lossy\"\nto = [\"198.18.2.0/24\"]\n"
      "client_leg = \"wan-lossy\"\nserver_leg = \"lan\"\n";
  spec.prepare = [](const InlineLab& net) { lock_congestion(net, Host::server, "cubic"); };
  return spec;
}

std::vector<double> measure(const Turn& turn, Curves& curves) {
  const TransferServer server(turn.lab.net.server, kPort, {});
  const Timeline timeline = transfer(turn.lab.net.client, turn.contender.place("transfer"), server,
                                     Direction::download, turn.quick ? kQuickSize : kSize);
  curves.put("rate", turn.contender.id(), rate_over_time(timeline, kStep));
  return {goodput(timeline) / static_cast<double>(kRate)};
}

ScenarioPlan plan(Curves& curves) {
  const auto cubic_middle = [](const InlineLab& net) { lock_congestion(net, Host::middle, "cubic"); };
  const auto bbr_middle = [](const InlineLab& net) { lock_congestion(net, Host::middle, "bbr"); };
  const auto bbr_server = [](const InlineLab& net) { lock_congestion(net, Host::server, "bbr"); };
  Row down{"down",
           "Download, 60 MB",
           {{"share", "goodput", "of the link", Better::higher, Kind::count}},
           {"direct", "direct-bbr", "headrace", "haproxy", "haproxy-bbr", "nginx"},
           lab(),
           [&curves](const Turn& turn) { return measure(turn, curves); }};
  down.share = 0.1;  // of ten, five are on bbr: on cubic the link is nearly idle
  return {"lossy",
          {"50 Mbit/s, RTT 100 ms, 0.5 % of the packets of each direction lost, queue of one round trip",
           "server on cubic unless the contender says bbr; haproxy and nginx on cubic, haproxy-bbr on bbr, "
           "by route "
           "and locked",
           "goodput: payload from established to the last byte, over the link's whole rate",
           "5 turns (--quick: 1), side by side: on cubic the link is nearly idle"},
          {{"direct", "routed, server on cubic", Carrier::direct},
           {"direct-bbr", "routed, server on bbr", Carrier::direct, false, {}, {}, bbr_server},
           {"headrace", "headrace inline (tproxy), client leg wan-lossy", Carrier::headrace_inline},
           {"haproxy", "haproxy, splice-auto", Carrier::haproxy, true, "splice-auto", {}, cubic_middle},
           {"haproxy-bbr",
            "haproxy, splice-auto, on bbr by a route metric",
            Carrier::haproxy,
            true,
            "splice-auto",
            {},
            bbr_middle},
           {"nginx", "nginx stream", Carrier::nginx, true, {}, {}, cubic_middle}},
          {down},
          {{"down", "share", "headrace", "", Bar::Side::at_least, 0.85}},
          5,
          1};
}

}  // namespace

ScenarioReport run_lossy(const ScenarioRequest& request) {
  Curves curves;
  ScenarioReport report = carry_out(plan(curves), request);
  if (request.quick) say_less_was_moved(report, kQuickSize);
  report.plots = {curves.fill({"rate", "Download at 0.5 % loss: payload rate", "seconds", "bit/s", false, {}},
                              contender_ids(report))};
  return report;
}

}  // namespace headrace::lab
