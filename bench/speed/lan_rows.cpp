// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/lan_rows.hpp"

#include <thread>

#include "bench/speed/calls.hpp"
#include "bench/speed/ends.hpp"
#include "bench/speed/load.hpp"
#include "bench/speed/usage.hpp"

namespace headrace::lab {
namespace {

constexpr double kGigabyte = 1e9;
constexpr auto kSettle = 200ms;  // for what the proxy does after the last byte: closing, giving back

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

// Enough destinations that no row runs out of ports: a proxy that picks its own holds each for 60 s
// (kernel-facts, "Cost").
constexpr int kServers = 16;
constexpr int kEchoPort = 7000, kBulkPort = 7001;
constexpr int kFirstEchoRelay = 8000, kBulkRelay = 8100;

std::string echo(int server) { return "echo" + std::to_string(server); }

LabSpec lan(const std::string& congestion) {
  LabSpec spec;
  spec.congestion = congestion;
  spec.servers = kServers;
  for (int server = 0; server < kServers; ++server)
    spec.services.push_back({echo(server), endpoint(kMiddleWan4, kFirstEchoRelay + server),
                             endpoint(server_address(server), kEchoPort)});
  spec.services.push_back({"bulk", endpoint(kMiddleWan4, kBulkRelay), endpoint(kServer4, kBulkPort)});
  spec.policies =
      "[[policy]]\nname = \"lan\"\nto = [\"198.18.2.0/24\"]\nclient_leg = \"lan\"\nserver_leg = \"lan\"\n";
  return spec;
}

Targets echo_targets(const Turn& turn) {
  Targets targets;
  for (int server = 0; server < kServers; ++server) targets.push_back(turn.contender.place(echo(server)));
  return targets;
}

// Nobody is pinned: three busy parties on two CPUs are the scheduler's business.
std::vector<double> measure_bulk(const Turn& turn) {
  const BulkServer server(turn.lab.net.server, kBulkPort);
  const auto pids = turn.contender.pids();
  BulkLoad load;
  load.measured = turn.quick ? 700ms : 1500ms;
  std::vector<double> cpu;
  const BulkResult result = take_bulk(turn.lab.net.client, turn.contender.place("bulk"), load,
                                      [&] { cpu.push_back(cpu_seconds(pids)); });
  const auto bytes = static_cast<double>(result.bytes);
  return {bytes * 8 / seconds(result.time) / 1e9, (cpu.at(1) - cpu.at(0)) / (bytes / kGigabyte)};
}

std::vector<double> measure_ping_pong(const Turn& turn) {
  const EchoServer server(turn.lab.net.server, kEchoPort, kEndsCpu);
  const auto pids = turn.contender.pids();
  pin(pids, kProxyCpu);
  const PinnedHere here(kEndsCpu);
  PingPong load;
  if (turn.quick) load.count /= 4;
  const double before = cpu_seconds(pids);
  const auto times = ping_pong(turn.lab.net.client, turn.contender.place(echo(0)), load);
  const double cpu = (cpu_seconds(pids) - before) * 1e6 / (load.count + load.warm_up);
  const auto at = [&](double share) {
    return seconds(times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))]) * 1e6;
  };
  return {at(0.5), at(0.99), at(0.999), cpu};
}

std::vector<double> measure_connections(const Turn& turn) {
  const EchoServer server(turn.lab.net.server, kEchoPort, kEndsCpu);
  const auto pids = turn.contender.pids();
  pin(pids, kProxyCpu);
  const PinnedHere here(kEndsCpu);
  Churn load;
  if (turn.quick) load.count /= 4;
  const Targets targets = echo_targets(turn);
  churn(turn.lab.net.client, targets, {500, load.parallel});
  std::this_thread::sleep_for(kSettle);
  const double before = cpu_seconds(pids);
  const double time = seconds(churn(turn.lab.net.client, targets, load));
  std::this_thread::sleep_for(kSettle);
  return {load.count / time, (cpu_seconds(pids) - before) * 1e6 / load.count};
}

// The first sessions warm up what is there once, however many come.
std::vector<double> measure_idle(const Turn& turn) {
  constexpr int kWarmUp = 500, kSessions = 2500;
  const EchoServer server(turn.lab.net.server, kEchoPort, kEndsCpu);
  const auto pids = turn.contender.pids();
  const Targets targets = echo_targets(turn);
  const auto first = open_idle(turn.lab.net.client, targets, kWarmUp);
  std::this_thread::sleep_for(kSettle);
  const auto before = resident_bytes(pids);
  const auto more = open_idle(turn.lab.net.client, targets, kSessions);
  std::this_thread::sleep_for(kSettle);
  return {static_cast<double>(resident_bytes(pids) - before) / kSessions};
}

// A round trip is one message in each direction.
std::vector<double> measure_message_calls(const Turn& turn) {
  constexpr int kRoundTrips = 2000;
  const EchoServer server(turn.lab.net.server, kEchoPort, std::nullopt);
  const auto counts = count_calls(turn.contender.pids(), [&] {
    ping_pong(turn.lab.net.client, turn.contender.place(echo(0)), {.count = kRoundTrips, .warm_up = 0});
  });
  const CallSums sums = sum_up(counts);
  std::vector<double> each{sums.wait, sums.receive, sums.send, sums.setsockopt, sums.splice + sums.other};
  double all = 0;
  for (double& calls : each) all += calls /= 2 * kRoundTrips;
  each.push_back(all);
  return each;
}

// Few at a time: stopped at each call, a proxy must still answer within the client's patience.
std::vector<double> measure_connection_calls(const Turn& turn) {
  constexpr Churn kLoad{.count = 500, .parallel = 4};
  const EchoServer server(turn.lab.net.server, kEchoPort, std::nullopt);
  const auto counts = count_calls(turn.contender.pids(), [&] {
    churn(turn.lab.net.client, echo_targets(turn), kLoad);
    std::this_thread::sleep_for(kSettle);
  });
  double all = 0;
  double options = 0;
  for (const auto& [name, calls] : counts) {
    all += calls / kLoad.count;
    if (name == "setsockopt" || name == "getsockopt") options += calls / kLoad.count;
  }
  return {options, all};
}

std::vector<double> measure_bulk_calls(const Turn& turn) {
  const BulkServer server(turn.lab.net.server, kBulkPort);
  BulkResult result;
  const auto counts = count_calls(turn.contender.pids(), [&] {
    result =
        take_bulk(turn.lab.net.client, turn.contender.place("bulk"), {.warm_up = 0ms, .measured = 1s}, [] {});
  });
  const CallSums sums = sum_up(counts);
  const double all = sums.wait + sums.receive + sums.send + sums.setsockopt + sums.splice + sums.other;
  const double megabytes = static_cast<double>(result.bytes) / 1e6;
  return {all / megabytes, sums.splice / (sums.splice + sums.receive + sums.send) * 100};
}

Row bulk_row(const char* id, const char* congestion, std::vector<std::string> contenders) {
  return {id,
          std::string("Bulk, ") + congestion + " on every leg",
          {{"rate", "rate", "Gbit/s", Better::higher, Kind::time},
           {"cpu", "proxy CPU a byte", "s/GB", Better::lower, Kind::time}},
          std::move(contenders),
          lan(congestion),
          measure_bulk};
}

Metric call_metric(const char* id, const char* title) {
  return {id, title, "calls", Better::lower, Kind::count};
}

}  // namespace

std::vector<Row> lan_rows() {
  const LabSpec cubic = lan("cubic");
  const std::vector<std::string> proxies{"headrace", "inline", "haproxy", "haproxy-s", "nginx", "floor"};
  return {
      bulk_row("bulk", "cubic",
               {"direct", "headrace", "inline", "haproxy", "haproxy-s", "nginx", "nginx-64k", "floor"}),
      bulk_row("bulk_bbr", "bbr",
               {"direct", "headrace", "inline", "haproxy", "haproxy-s", "nginx", "nginx-64k", "floor"}),
      {"ping_pong",
       "Ping-pong, 64 bytes",
       {{"p50", "p50", "us"},
        {"p99", "p99", "us"},
        {"p999", "p99.9", "us"},
        {"cpu", "proxy CPU a round trip", "us"}},
       {"direct", "headrace", "busy_poll", "inline", "haproxy", "haproxy-s", "haproxy-bp", "nginx",
        "nginx-64k", "floor"},
       cubic,
       measure_ping_pong},
      {"connections",
       "Connect, 64 bytes each way, close; 16 servers",
       {{"rate", "connections a second", "1/s", Better::higher}, {"cpu", "proxy CPU a connection", "us"}},
       {"direct", "headrace", "inline", "haproxy", "haproxy-s", "nginx", "nginx-64k", "floor"},
       cubic,
       measure_connections},
      {"idle",
       "Idle session",
       {{"memory", "user memory", "bytes", Better::lower, Kind::count}},
       {"headrace", "inline", "haproxy", "haproxy-s", "nginx", "nginx-64k"},
       cubic,
       measure_idle,
       3},
      {"message_calls",
       "System calls a message, 64 bytes, one direction",
       {call_metric("wait", "wait"), call_metric("receive", "receive"), call_metric("send", "send"),
        call_metric("setsockopt", "setsockopt"), call_metric("other", "other"), call_metric("all", "all")},
       proxies,
       cubic,
       measure_message_calls,
       3},
      {"connection_calls",
       "System calls a connection, one exchange",
       {call_metric("options", "socket options"), call_metric("all", "all")},
       proxies,
       cubic,
       measure_connection_calls,
       3},
      {"bulk_calls",
       "System calls of bulk",
       {call_metric("all", "a megabyte"),
        {"splice", "splice of those that move", "%", Better::higher, Kind::count}},
       proxies,
       cubic,
       measure_bulk_calls,
       3},
  };
}

}  // namespace headrace::lab
