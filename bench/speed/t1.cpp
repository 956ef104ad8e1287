// SPDX-License-Identifier: GPL-3.0-or-later
// Scenario `t1`: a T1 line, and a server whose MSS and windows were made for its own subnet.
#include <memory>

#include "bench/lab/capture.hpp"
#include "bench/speed/curves.hpp"
#include "bench/speed/flow_trace.hpp"
#include "bench/speed/scenario_plan.hpp"
#include "bench/speed/transfer.hpp"

namespace headrace::lab {
namespace {

constexpr std::uint64_t kRate = 1'536'000;  // bit/s
constexpr std::uint64_t kQueue = 32 * 1024;
constexpr auto kRoundTrip = 120ms;
constexpr std::uint64_t kSize = 2'000'000, kQuickSize = 300'000;
constexpr int kPort = 7100, kRelay = 8200;
constexpr double kStep = 0.5;         // seconds a point of the plot
constexpr double kSequenceShown = 3;  // seconds

// The server of the story. It announces 512 to everybody, and 16,384 bytes that fall to 0, since its program
// reads when they have; a read then opens 4,096. What it sends waits in a buffer of as much: 4.2BSD's.
ServerManners old_server() {
  ServerManners manners;
  manners.socket.mss = 512;
  manners.socket.receive_buffer = 16 * 1024;
  manners.socket.send_buffer = 2304;  // the kernel doubles it: 4,608 are the least it grants
  manners.lump = 4 * 1024;
  manners.reads_late = true;
  return manners;
}

LabSpec lab_without_link() {
  LabSpec spec;
  spec.congestion = "cubic";
  spec.services = {{"transfer", endpoint(kMiddleWan4, kRelay), endpoint(kServer4, kPort)}};
  spec.policies =
      "[[policy]]\nname = \"t1\"\nto = [\"198.18.2.0/24\"]\n"
      "client_leg = { profile = \"wan-bulk\", congestion = \"cubic\" }\nserver_leg = \"lan\"\n";
  return spec;
}

LabSpec lab_with_link() {
  LabSpec spec = lab_without_link();
  spec.net.client_link = LinkSettings::round_trip(kRoundTrip, kRate, kQueue);
  return spec;
}

double share_of_link(double rate) { return rate / payload_rate(kRate); }

std::uint64_t size_for(const Turn& turn) { return turn.quick ? kQuickSize : kSize; }

// What a sequence plot shows: a few round trips, so that single segments and windows can be seen.
std::vector<std::pair<double, double>> beginning(std::vector<std::pair<double, double>> points) {
  std::erase_if(points, [](const auto& point) { return point.first > kSequenceShown; });
  return points;
}

bool is_ours(std::uint16_t port) { return port == kPort || port == kRelay; }

std::vector<double> measure(const Turn& turn, Direction direction, Curves& curves) {
  const bool up = direction == Direction::upload;
  const TransferServer server(turn.lab.net.server, kPort, old_server());
  const Capture capture(turn.lab.net.client, "eth0");
  const Timeline timeline =
      transfer(turn.lab.net.client, turn.contender.place("transfer"), server, direction, size_for(turn));
  curves.put(up ? "rate_up" : "rate_down", turn.contender.id(), rate_over_time(timeline, kStep));
  if (up) {
    UploadTrace trace = trace_upload(capture.packets(), is_ours);
    curves.put("sequence", turn.contender.id() + ": may send up to", beginning(std::move(trace.allowed)));
    curves.put("sequence", turn.contender.id() + ": sent", beginning(std::move(trace.sent)));
  }
  return {share_of_link(goodput(timeline))};
}

std::vector<double> measure_both(const Turn& turn) {
  std::vector<double> shares;
  for (const Direction direction : {Direction::upload, Direction::download}) {
    const TransferServer server(turn.lab.net.server, kPort, old_server());
    shares.push_back(share_of_link(
        goodput(transfer(turn.lab.net.client, turn.contender.place("transfer"), server, direction, kSize))));
  }
  return shares;
}

std::vector<Row> rows(Curves& curves) {
  const Metric share{"share", "goodput", "of the link", Better::higher, Kind::count};
  const std::vector<std::string> all{"direct", "headrace", "haproxy", "nginx"};
  Row up{"up",
         "Upload, 2 MB",
         {share},
         all,
         lab_with_link(),
         [&curves](const Turn& turn) {
           return measure(turn, Direction::upload, curves); }};
  Row down{
      "down",          "Download, 2 MB",
      {share},         all,
      lab_with_link(), [&curves](const Turn& turn) {
             return measure(turn, Direction::download, curves); }};
  up.share = down.share = 1.0 / 12;
  const Metric near_up{"up", "upload", "x the link", Better::higher, Kind::count};
  const Metric near_down{"down", "download", "x the link", Better::higher, Kind::count};
  return {up,
          down,
          {"near",
           "The same server on its own LAN",
           {near_up, near_down},
           {"direct"},
           lab_without_link(),
           measure_both}};
}

// The first two are the promise; the others say that the workload is what it was pinned to.
std::vector<Bar> bars() {
  using enum Bar::Side;
  return {{"up", "share", "headrace", "", at_least, 0.95}, {"down", "share", "headrace", "", at_least, 0.95},
          {"near", "up", "direct", "", at_least, 2},       {"near", "down", "direct", "", at_least, 2},
          {"up", "share", "direct", "", at_least, 0.15},   {"up", "share", "direct", "", at_most, 0.30},
          {"down", "share", "direct", "", at_least, 0.15}, {"down", "share", "direct", "", at_most, 0.30}};
}

ScenarioPlan plan(Curves& curves) {
  return {
      "t1",
      {"1.536 Mbit/s, RTT 120 ms, 32 KB queue each way on the client's side; veth to the server",
       "server: MSS 512, receive buffer 16,384, reads 4,096 when its window has closed, send buffer 4,608",
       "cubic at both ends and on every leg of every proxy, by route and locked",
       "goodput: payload from established to the last byte at the program it is for, over link x 1460/1500",
       "5 turns (--quick: 1), side by side: the link decides, not the CPU; the server on its own LAN alone"},
      {{"direct", "routed, no proxy", Carrier::direct},
       {"headrace", "headrace inline (tproxy), client leg wan-bulk", Carrier::headrace_inline},
       {"haproxy", "haproxy, splice-auto", Carrier::haproxy, true, "splice-auto"},
       {"nginx", "nginx stream", Carrier::nginx, true}},
      rows(curves),
      bars(),
      5,
      1};
}

}  // namespace

ScenarioReport run_t1(const ScenarioRequest& request) {
  Curves curves;
  ScenarioReport report = carry_out(plan(curves), request);
  if (request.quick) say_less_was_moved(report, kQuickSize);
  const auto ids = contender_ids(report);
  report.plots = {
      curves.fill({"rate_up", "Upload over a T1: payload rate", "seconds", "bit/s", false, {}}, ids),
      curves.fill({"rate_down", "Download over a T1: payload rate", "seconds", "bit/s", false, {}}, ids),
      curves.fill({"sequence", "Upload: the window that closes", "seconds", "bytes of the stream", false, {}},
                  {"direct: may send up to", "direct: sent", "headrace: may send up to", "headrace: sent"})};
  return report;
}

}  // namespace headrace::lab
