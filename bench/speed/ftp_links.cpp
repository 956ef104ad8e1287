// SPDX-License-Identifier: GPL-3.0-or-later
// Scenarios `gprs` and `edge`: a real FTP server across a radio link, and what each setting brings.
#include <filesystem>

#include "bench/lab/capture.hpp"
#include "bench/lab/process.hpp"
#include "bench/lab/socket.hpp"
#include "bench/speed/curves.hpp"
#include "bench/speed/flow_trace.hpp"
#include "bench/speed/scenario_plan.hpp"
#include "bench/workload/ftp.hpp"

namespace headrace::lab {
namespace {

// A radio link and what goes over it.
struct RadioLink {
  const char* name;
  const char* says;
  std::uint64_t rate = 0;  // bit/s
  std::chrono::nanoseconds round_trip{0}, swing{0};
  std::size_t file = 0, quick_file = 0;
  double step = 0;  // seconds a point of the plot
};

constexpr RadioLink kGprs{"gprs", "40 kbit/s, RTT 700 ms +- 200 ms", 40'000, 700ms, 200ms, 300'000, 40'000,
                          2};
constexpr RadioLink kEdge{
    "edge", "200 kbit/s, RTT 450 ms +- 100 ms", 200'000, 450ms, 100ms, 1'500'000, 200'000, 1};

constexpr auto kSwingPeriod = 20s;  // slow: some ten round trips
constexpr std::uint64_t kQueue = 32 * 1024;
constexpr double kWindow = 2;  // seconds, and
constexpr double kFull = 0.8;  // of what the link has for payload: "fast"
constexpr int kControlPort = 21;

// Segments are cut one by one, as a network card of the time had them: what the kernel makes of up to 64 KB
// at once counts as one in a send buffer, and one of 8 KB then lets 44 KB fly (ss: tb16384 w77832
// unacked:44).
void cut_segments_one_by_one(const InlineLab& net) {
  const char* one = " gso_max_segs 1";
  net.client.ip(std::string("link set eth0") + one);
  net.middle.ip(std::string("link set wan0") + one + "\nlink set lan0" + one);
  net.server.ip(std::string("link set eth0") + one);
}

// What the server was: every segment 1,024 bytes, two at first, eight kilobytes in flight.
void make_old_server(const InlineLab& net) {
  cut_segments_one_by_one(net);
  lock_congestion(net, Host::server, "cubic", "mtu 1064 advmss 1024 initcwnd 2");
  net.server.sysctl("net.ipv4.tcp_wmem", "4096 16384 16384");  // what SO_SNDBUF of 8,192 gives
  net.server.sysctl("net.ipv4.tcp_timestamps", "1");
}

std::string policy_with(const std::string& client_leg) {
  return "[[policy]]\nname = \"ftp\"\nto = [\"198.18.2.0/24\"]\nclient_leg = " + client_leg +
         "\nserver_leg = \"lan\"\n";
}

// A client leg that is what the server was, but for one line.
struct Step {
  const char* id;
  const char* title;
  std::string mss = "1024", buffer = "\"8KiB\"", initial_window = "2", sack = "false", timestamps = "true";
};

std::string policy_of(const Step& step) {
  return policy_with("{ profile = \"plain\", congestion = \"cubic\", mss = " + step.mss +
                     ", send_buffer = " + step.buffer + ", receive_buffer = " + step.buffer +
                     ", initial_window = " + step.initial_window + ", sack = " + step.sack +
                     ", timestamps = " + step.timestamps + " }");
}

std::vector<Step> steps() {
  return {{.id = "as-was", .title = "client leg as the server was"},
          {.id = "mss", .title = "mss = auto, the path's", .mss = "\"auto\""},
          {.id = "buffers", .title = "buffers 8 -> 32 KiB", .buffer = "\"32KiB\""},
          {.id = "window", .title = "initial_window 2 -> 4", .initial_window = "4"},
          {.id = "sack", .title = "sack on", .sack = "true"},
          {.id = "stamps", .title = "timestamps off", .timestamps = "false"},
          {.id = "all",
           .title = "all of these",
           .mss = "\"auto\"",
           .buffer = "\"32KiB\"",
           .initial_window = "4",
           .sack = "true",
           .timestamps = "false"}};
}

LabSpec lab_over(const RadioLink& link) {
  LabSpec spec;
  spec.congestion = "cubic";
  spec.net.client_link = LinkSettings::round_trip(link.round_trip, link.rate, kQueue);
  for (DirectionSettings* direction : {&spec.net.client_link->a_to_b, &spec.net.client_link->b_to_a}) {
    direction->jitter = link.swing / 2;
    direction->jitter_period = kSwingPeriod;
  }
  spec.services = {{"control", endpoint(kMiddleWan4, kControlPort), endpoint(kServer4, kControlPort)}};
  for (int port = FtpServer::kFirstPassivePort; port <= FtpServer::kLastPassivePort; ++port)
    spec.services.push_back(
        {"data" + std::to_string(port), endpoint(kMiddleWan4, port), endpoint(kServer4, port)});
  spec.policies = policy_with("\"radio\"");
  spec.prepare = make_old_server;
  return spec;
}

bool is_data(std::uint16_t port) {
  return port >= FtpServer::kFirstPassivePort && port <= FtpServer::kLastPassivePort;
}

// curl leaves the address that PASV tells alone and connects to the control connection's: so an explicit
// proxy can stand in between.
void fetch(const Turn& turn, const std::filesystem::path& copy) {
  std::string place = turn.contender.place("control");
  Process curl(turn.lab.net.client, {"curl", "--silent", "--show-error", "--max-time", "300", "--output",
                                     copy, "ftp://" + place + "/download/file"});
  std::optional<ExitStatus> ended;
  while (!(ended = curl.wait(250ms))) {
    if (takes_no_more_turns()) throw Interrupted();
  }
  if (*ended != ExitStatus{0, 0}) throw std::runtime_error("curl: " + curl.output());
}

// Seconds are told in round trips. Never fast: as if it had come with the last byte.
double round_trips_until_fast(const DownloadTrace& trace, const RadioLink& link) {
  const auto found =
      first_window(trace.acknowledged, trace.first_data, kWindow, kFull * payload_rate(link.rate));
  const double time = found ? *found : trace.acknowledged.back().at - trace.first_data;
  return time / std::chrono::duration<double>(link.round_trip).count();
}

std::vector<double> measure(const Turn& turn, const RadioLink& link, Curves& curves) {
  const std::size_t size = turn.quick ? link.quick_file : link.file;
  const FtpServer server(turn.lab.net.server, turn.lab.dir, kServer4, size, false);
  const Capture at_client(turn.lab.net.client, "eth0");
  const Capture at_link(turn.lab.net.middle, "wan0");
  const std::filesystem::path copy = turn.lab.dir / "fetched";
  fetch(turn, copy);
  if (read_file(copy) != read_file(server.file())) throw std::runtime_error("the file arrived changed");
  const DownloadTrace trace = trace_download(all_packets(at_client), is_data);
  if (trace.acknowledged.empty() || trace.acknowledged.back().bytes != size)
    throw std::runtime_error("the capture has not seen the whole file");
  curves.put("rate", turn.contender.id(), rate_over_time(trace.acknowledged, link.step));
  return {goodput(trace.acknowledged) / payload_rate(link.rate), round_trips_until_fast(trace, link),
          static_cast<double>(bytes_to_client(all_packets(at_link), is_data)) / static_cast<double>(size)};
}

std::vector<Contender> contenders() {
  std::vector<Contender> all{
      {"direct", "routed, no proxy", Carrier::direct},
      {"headrace", "headrace inline (tproxy), client leg radio", Carrier::headrace_inline},
      {"haproxy", "haproxy, splice-auto", Carrier::haproxy, true, "splice-auto"},
      {"nginx", "nginx stream", Carrier::nginx, true}};
  for (const Step& step : steps())
    all.push_back({step.id,
                   std::string("headrace, ") + step.title,
                   Carrier::headrace_inline,
                   false,
                   {},
                   policy_of(step)});
  return all;
}

ScenarioPlan plan(const RadioLink& link, Curves& curves) {
  using enum Bar::Side;
  Row row{"ftp",
          "FTP download, " + std::to_string(link.file / 1000) + " kB",
          {{"share", "goodput", "of the link", Better::higher, Kind::count},
           {"start", "full speed after", "RTT", Better::lower, Kind::count},
           {"wire", "bytes sent a byte of file", "x", Better::lower, Kind::count}},
          {},
          lab_over(link),
          [&link, &curves](const Turn& turn) { return measure(turn, link, curves); }};
  for (const Contender& one : contenders()) row.contenders.push_back(one.id);
  row.share = 1.0 / 11;  // a turn of all: more would want more inotify instances than a user may have
  return {link.name,
          {std::string(link.says) + " (a sine of 20 s), 32 KB queue each way; veth to the server",
           "vsftpd and curl, passive; server: segments of 1,024, two at first, 8 KB send buffer, timestamps; "
           "cubic at both ends and on every leg of every proxy, by route and locked",
           "goodput: payload from established (data connection) to the last byte, over link x 1460/1500",
           "full speed: the first 2 s at 0.8 of link x 1460/1500, counted from the first data segment",
           "as-was ... all: headrace with that policy and nothing else changed",
           "3 turns (--quick: 1), side by side: the link decides, not the CPU"},
          contenders(),
          {row},
          {{"ftp", "share", "headrace", "", at_least, 0.95}, {"ftp", "start", "headrace", "", at_most, 2}},
          3,
          1};
}

ScenarioReport run(const RadioLink& link, const ScenarioRequest& request) {
  Curves curves;
  ScenarioReport report = carry_out(plan(link, curves), request);
  if (request.quick) say_less_was_moved(report, link.quick_file);
  report.plots = {curves.fill(
      {"rate", std::string("FTP over ") + link.name + ": payload rate", "seconds", "bit/s", false, {}},
      contender_ids(report))};
  return report;
}

}  // namespace

ScenarioReport run_gprs(const ScenarioRequest& request) { return run(kGprs, request); }
ScenarioReport run_edge(const ScenarioRequest& request) { return run(kEdge, request); }

}  // namespace headrace::lab
