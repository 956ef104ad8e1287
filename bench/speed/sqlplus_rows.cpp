// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/sqlplus_rows.hpp"

#include <algorithm>
#include <array>
#include <thread>

#include "bench/lab/capture.hpp"
#include "bench/speed/workload_server.hpp"
#include "bench/workload/exchange.hpp"

namespace headrace::lab {
namespace {

using namespace std::chrono_literals;
using Times = std::vector<std::chrono::nanoseconds>;

constexpr std::uint64_t kRate = 100'000'000;     // bit/s
constexpr std::uint64_t kQueue = kRate / 8 / 5;  // a fifth of a second: nothing is dropped
constexpr std::size_t kRequest = 21;
constexpr int kServerPort = 1521, kRelayPort = 8000;
constexpr auto kSilence = 500ms;

// How often what happens on a path, and how much of the machine that takes: most of the time everybody waits
// for the link or for the next pause.
struct Path {
  std::chrono::milliseconds rtt;
  int turns;
  double share;
};
constexpr std::array<Path, 4> kPaths{
    {{10ms, 5, 1. / 8}, {40ms, 3, 1. / 14}, {100ms, 2, 1. / 15}, {300ms, 2, 1. / 16}}};

struct Script {
  int fresh = 8;  // connections more than the one that goes on, for their first exchange alone
  int steady = 200, paused = 20;
};
constexpr int kLanExchanges = 50;
// No other turn finds room beside it, and it runs like the turns that are held against it: at the same nice.
constexpr double kAlone = 0.99;
constexpr Script kQuickScript{2, 20, 4};

struct Played {
  Times first, steady, paused;
};

double milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

std::string with_comma(std::size_t number) {
  const std::string digits = std::to_string(number);
  return digits.substr(0, digits.size() - 3) + "," + digits.substr(digits.size() - 3);
}

// A service a server: the row of the LAN has all of them in one lab.
LabSpec lab_for(const std::vector<SqlplusServer>& servers, std::chrono::nanoseconds rtt) {
  LabSpec spec;
  if (rtt > 0ns) spec.net.client_link = LinkSettings::round_trip(rtt, kRate, kQueue);
  std::string ports;
  for (std::size_t n = 0; n < servers.size(); ++n) {
    const int port = kServerPort + static_cast<int>(n);
    ports += (n == 0 ? "" : ", ") + std::to_string(port);
    spec.services.push_back(
        {servers[n].id, endpoint(kMiddleWan4, kRelayPort + static_cast<int>(n)), endpoint(kServer4, port)});
  }
  spec.policies = "[[policy]]\nname = \"sqlplus\"\nto = [\"198.18.2.0/24\"]\nports = [" + ports + "]\n";
  // Any operator can, whatever runs there.
  spec.prepare = [](const InlineLab& net) { net.middle.sysctl("net.ipv4.tcp_slow_start_after_idle", "0"); };
  return spec;
}

Process start_server(const SpeedLab& lab, const SqlplusServer& server) {
  return start_workload_server(lab, "exchange-server", lab.service(server.id).to, server.congestion);
}

ExchangeConnection connect(const std::string& place, std::size_t answer) {
  ExchangeSettings settings;
  settings.request = kRequest;
  settings.response = answer;
  return {place, settings};
}

std::size_t arrived(const std::vector<Packet>& packets) {
  std::size_t sum = 0;
  for (const Packet& packet : packets) sum += packet.outgoing ? 0 : packet.payload;
  return sum;
}

// When how much of one answer was there, as the client's interface saw it.
std::vector<std::pair<double, double>> sequence_of(const std::vector<Packet>& packets) {
  std::vector<std::pair<double, double>> points;
  std::chrono::nanoseconds asked{0};
  std::uint32_t begin = 0;
  for (const Packet& packet : packets) {
    if (packet.payload == 0) continue;
    if (packet.outgoing) {
      asked = packet.time;
      points = {{0, 0}};
      continue;
    }
    if (points.size() == 1) begin = packet.seq;
    const auto end = static_cast<std::uint32_t>(packet.seq + packet.payload - begin);
    points.emplace_back(milliseconds(packet.time - asked), static_cast<double>(end) / 1000);
  }
  return points;
}

void trace_one_exchange(const Turn& turn, const ExchangeConnection& connection, const SqlplusCase& one,
                        SqlplusTrace& trace) {
  const Capture capture(turn.lab.net.client, "eth0");
  connection.exchange();
  const Deadline deadline(1s);
  while (arrived(capture.packets()) < one.answer && !deadline.passed()) std::this_thread::sleep_for(1ms);
  trace.keep_sequence(turn.contender.id(), sequence_of(capture.packets()));
}

Played play(const Turn& turn, const SqlplusCase& one, SqlplusTrace& trace) {
  const Script script = turn.quick ? kQuickScript : Script{};
  const std::string place = turn.contender.place(one.server.id);
  Played played;
  for (int n = 0; n < script.fresh; ++n) played.first.push_back(connect(place, one.answer).exchange());
  const ExchangeConnection connection = connect(place, one.answer);
  played.first.push_back(connection.exchange());
  for (int n = 0; n < script.steady; ++n) played.steady.push_back(connection.exchange());
  if (SqlplusTrace::is_drawn_as_sequence(one, turn.contender.id()))
    trace_one_exchange(turn, connection, one, trace);
  for (int n = 0; n < script.paused; ++n) {
    std::this_thread::sleep_for(kSilence);
    played.paused.push_back(connection.exchange());
  }
  return played;
}

std::vector<double> trips(const Times& times, const SqlplusCase& one) {
  std::vector<double> all;
  for (const auto time : times) all.push_back(round_trips(time, one.answer, kRate, one.rtt));
  return all;
}

std::vector<double> measure_case(const Turn& turn, const SqlplusCase& one, SqlplusTrace& trace) {
  if (!one.server.of_the_middle.empty())
    lock_congestion(turn.lab.net, Host::middle, one.server.of_the_middle);
  const Process server = start_server(turn.lab, one.server);
  const Played played = turn.lab.net.client.run([&] { return play(turn, one, trace); });
  if (SqlplusTrace::is_drawn(one)) {
    Times all{played.first.back()};
    all.insert(all.end(), played.steady.begin(), played.steady.end());
    all.insert(all.end(), played.paused.begin(), played.paused.end());
    trace.keep_trips(one, turn.contender.id(), trips(all, one));
  }
  return {*median(trips(played.first, one)), *median(trips(played.steady, one)),
          *median(trips(played.paused, one))};
}

// One after the other with a silence as long as the shortest path's: ends that never sleep answer faster than
// ends that wait for a WAN.
Times lan_first(const std::string& place, std::size_t answer) {
  Times times;
  for (int n = 0; n <= Script{}.fresh; ++n) {
    const ExchangeConnection connection = connect(place, answer);
    std::this_thread::sleep_for(kPaths.front().rtt);
    times.push_back(connection.exchange());
  }
  return times;
}

Times lan_later(const std::string& place, std::size_t answer) {
  const ExchangeConnection connection = connect(place, answer);
  Times times;
  for (int n = 0; n < kLanExchanges; ++n) {
    std::this_thread::sleep_for(kPaths.front().rtt);
    times.push_back(connection.exchange());
  }
  return times;
}

std::vector<double> measure_lan(const Turn& turn, const std::vector<SqlplusCase>& cases) {
  std::vector<double> values;
  for (const SqlplusCase& one : cases) {
    const Process server = start_server(turn.lab, one.server);
    const std::string place = turn.contender.place(one.server.id);
    turn.lab.net.client.run([&] {
      values.push_back(milliseconds(median(lan_first(place, one.answer))));
      values.push_back(milliseconds(median(lan_later(place, one.answer))));
    });
  }
  return values;
}

Row lan_row(const std::vector<SqlplusServer>& servers) {
  std::vector<SqlplusCase> cases;
  for (const SqlplusCase& one : sqlplus_cases(servers)) {
    if (one.rtt == kPaths.front().rtt) cases.push_back(one);
  }
  Row row{kLanExchange,
          "Exchange without a WAN (for the bars)",
          {},
          {"direct", "headrace"},
          lab_for(servers, 0ns),
          {},
          3,
          kAlone};
  for (const SqlplusCase& one : cases) {
    const std::string title = one.server.id + ", " + with_comma(one.answer) + " B";
    row.metrics.push_back({one.lan_metric() + "_first", title + ", first", "ms", Better::lower, Kind::count});
    row.metrics.push_back({one.lan_metric(), title, "ms", Better::lower, Kind::count});
  }
  row.measure = [cases](const Turn& turn) { return measure_lan(turn, cases); };
  return row;
}

const Path& path_of(const SqlplusCase& one) {
  return *std::find_if(kPaths.begin(), kPaths.end(), [&](const Path& path) { return path.rtt == one.rtt; });
}

Metric metric(const char* id, const char* title) {
  return {id, title, "round trips", Better::lower, Kind::count};
}

}  // namespace

std::string SqlplusCase::id() const { return "rtt" + std::to_string(rtt.count()) + "_" + lan_metric(); }

std::string SqlplusCase::title() const {
  return "RTT " + std::to_string(rtt.count()) + " ms, server: " + server.title + ", 21 -> " +
         with_comma(answer) + " B";
}

std::string SqlplusCase::lan_metric() const { return server.id + "_" + std::to_string(answer); }

std::vector<SqlplusCase> sqlplus_cases(const std::vector<SqlplusServer>& servers) {
  std::vector<SqlplusCase> all;
  for (const Path& path : kPaths) {
    for (const SqlplusServer& server : servers) {
      for (const std::size_t answer : {9'356U, 50'000U}) all.push_back({path.rtt, server, answer});
    }
  }
  return all;
}

std::vector<Row> sqlplus_rows(const std::vector<SqlplusServer>& servers, SqlplusTrace& trace) {
  const std::vector<std::string> contenders{"direct", "headrace", "haproxy", "nginx"};
  std::vector<Row> rows{lan_row(servers)};
  for (const SqlplusCase& one : sqlplus_cases(servers)) {
    const Path& path = path_of(one);
    rows.push_back({one.id(),
                    one.title(),
                    {metric("first", "first exchange"), metric("steady", "back to back"),
                     metric("paused", "after 0.5 s")},
                    contenders,
                    lab_for(servers, path.rtt),
                    [one, &trace](const Turn& turn) { return measure_case(turn, one, trace); },
                    path.turns,
                    path.share});
  }
  return rows;
}

}  // namespace headrace::lab
