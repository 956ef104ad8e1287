// SPDX-License-Identifier: GPL-3.0-or-later
// A server that cannot be reached: the client, accepted early, is reset, and when it tries again it hears the
// plain truth.
#include "bench/lab/capture.hpp"
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr int kClosed = 5001;

// How one try ends: done when a server was reached, reset when headrace took it and ended it, else what the
// kernel says of a connection that never stood.
lab::End end_of_try(const lab::InlineLab& lab, const std::string& place, const std::string& from = {}) {
  lab::SocketOptions options;
  options.bind = from;
  const auto attempt = lab::Socket::try_connect(lab.client, place, options);
  if (attempt.end != lab::End::done) return attempt.end;  // the reset may come before connect(2) has returned
  const auto heard = attempt.socket.receive_to_end();
  CHECK(heard.bytes.empty());
  return heard.end;
}

DaemonSettings with_timeouts(const std::string& keys) {
  DaemonSettings settings;
  settings.more = "[timeouts]\n" + keys + "\n";
  return settings;
}

DaemonSettings in_mode(const std::string& mode) {
  DaemonSettings settings;
  settings.intercept = "mode = \"" + mode + "\"\ninterfaces = [\"wan0\"]\n";
  return settings;
}

// A router's word at the server's end.
void reject_there(const lab::InlineLab& lab, const std::string& type) {
  lab.server.command(
      {"nft", "-f", "-"},
      "table inet away { chain input { type filter hook input priority 0;\ntcp dport 5001 reject "
      "with icmpx type " +
          type + "\n}\n}\n");
}

void check_refused_twice(const lab::InlineLab& lab, const Daemon& daemon) {
  for (const char* server : kServers) {
    const std::string place = lab::endpoint(server, kClosed);
    INFO(place);
    CHECK(end_of_try(lab, place) == lab::End::reset);
    CHECK(end_of_try(lab, place) == lab::End::refused);
  }
  const auto status = daemon.status();
  INFO(status.dump(2));
  CHECK(status["counters"]["accepted"] == 2);
  CHECK(status["counters"]["left_direct"] == 2);
  CHECK(status["failed_servers"] == 2);
  CHECK(status["syns_to_failed"] == 2);
}

}  // namespace

TEST_CASE("failed server: the first try is reset, the second is refused by the server itself") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, in_mode(GENERATE("tproxy", "redirect"))};
  const lab::Capture lan{lab.middle, "lan0"};
  check_refused_twice(lab, daemon);
  for (const auto& [server, client] :
       {std::pair{lab::kServer4, lab::kClient4}, {lab::kServer6, lab::kClient6}}) {
    INFO(server);
    const auto refusal = [&, from = std::string{server},
                          to = std::string{client}](const lab::Packet& packet) {
      return packet.rst && packet.from == from && packet.to == to;
    };
    CHECK(lan.wait_for(refusal, 5s));
  }
  CHECK(daemon.logged("closed=server_refused", 2));
}

TEST_CASE("failed server: the second try hears what the network says") {
  const lab::InlineLab lab;
  lab.middle.ip("route add unreachable 198.18.9.0/24\nroute add unreachable 2001:db8:9::/64");
  reject_there(lab, "host-unreachable");
  const Daemon daemon{lab};
  for (const std::string place :
       {"198.18.2.2:5001", "[2001:db8:2::2]:5001", "198.18.9.1:5001", "[2001:db8:9::1]:5001"}) {
    INFO(place);
    CHECK(end_of_try(lab, place) == lab::End::reset);
    CHECK(end_of_try(lab, place) == lab::End::unreachable);
  }
  CHECK(daemon.logged("closed=server_unreachable", 4));
  CHECK(daemon.status()["counters"]["accepted"] == 4);
}

// The element goes before the client sends its SYN again: taken then, the connection would seem to stand.
TEST_CASE("failed server: of one that never answers the second try times out, however long that takes") {
  const lab::InlineLab lab;
  lab.client.sysctl("net.ipv4.tcp_syn_retries", "1");
  lab.server.command(
      {"nft", "-f", "-"},
      "table inet away { chain input { type filter hook input priority 0; policy drop; }\n}\n");
  const Daemon daemon{lab, with_timeouts("connect = \"200ms\"\nfailed_server = \"500ms\"")};
  const std::string place = lab::endpoint(lab::kServer4, kClosed);
  CHECK(end_of_try(lab, place) == lab::End::reset);
  CHECK(daemon.logged("closed=connect_timeout"));
  CHECK(end_of_try(lab, place) == lab::End::timed_out);
  const auto status = daemon.status();
  CHECK(status["counters"]["accepted"] == 1);
  CHECK(status["syns_to_failed"] >= 2);
  CHECK(status["failed_servers"] == 0);
}

TEST_CASE("failed server: when its time has passed and it listens, connections are taken again") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_timeouts("failed_server = \"300ms\"")};
  // A client that always comes from the same port meets what conntrack remembers of its last try.
  const std::string from = GENERATE("", "198.18.1.2:40100");
  const std::string place = lab::endpoint(lab::kServer4, kClosed);
  CHECK(end_of_try(lab, place, from) == lab::End::reset);
  CHECK(end_of_try(lab, place, from) == lab::End::refused);
  CHECK(eventually([&] { return daemon.status()["failed_servers"] == 0; }));
  CHECK(end_of_try(lab, place, from) == lab::End::reset);
  const auto listener = lab::Socket::listen(lab.server, place);
  CHECK(eventually([&] { return daemon.status()["failed_servers"] == 0; }));
  lab::SocketOptions options;
  options.bind = from;
  const auto session = converse(lab, listener, options);
  CHECK(speaks(session));
  CHECK(is_through(lab, session));
}

TEST_CASE("failed server: other ports, other servers and other clients are taken as before") {
  const lab::InlineLab lab;
  lab.add_client_address("198.18.1.9");
  lab.add_server_address("198.18.2.9");
  const Daemon daemon{lab};
  const std::string place = lab::endpoint(lab::kServer4, kClosed);
  CHECK(end_of_try(lab, place) == lab::End::reset);
  CHECK(end_of_try(lab, place) == lab::End::refused);
  CHECK(way_of_new_flows(lab, listen_in_both(lab, 5000)) == "through");
  const auto other = lab::Socket::listen(lab.server, lab::endpoint("198.18.2.9", kClosed));
  CHECK(is_through(lab, converse(lab, other)));
  CHECK(end_of_try(lab, place, "198.18.1.9:0") == lab::End::reset);
  CHECK(end_of_try(lab, place, "198.18.1.9:0") == lab::End::refused);
}

TEST_CASE("failed server: a server that is up again before its time has passed is reached directly") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  const std::string place = lab::endpoint(lab::kServer4, kClosed);
  CHECK(end_of_try(lab, place) == lab::End::reset);
  const auto listener = lab::Socket::listen(lab.server, place);
  const auto direct = converse(lab, listener);
  CHECK_FALSE(is_through(lab, direct));
  CHECK(speaks(direct));
  CHECK(carries(direct.server, direct.client, 300'000));
}

TEST_CASE("failed server: bypass, reload and a restart go on with it") {
  const lab::InlineLab lab;
  Daemon daemon{lab};
  const auto listeners = listen_in_both(lab);
  const auto live = converse(lab, listeners.front());
  const auto fails = [&](int port, lab::End first) {
    const std::string place = lab::endpoint(lab::kServer4, port);
    return end_of_try(lab, place) == first && end_of_try(lab, place) == lab::End::refused;
  };
  CHECK(fails(5001, lab::End::reset));
  daemon.command({"bypass", "on"});
  CHECK(fails(5002, lab::End::refused));
  CHECK(way_of_new_flows(lab, listeners) == "direct");
  daemon.command({"bypass", "off"});
  CHECK(fails(5003, lab::End::reset));
  daemon.command({"reload"});
  CHECK(fails(5004, lab::End::reset));
  CHECK(way_of_new_flows(lab, listeners) == "through");
  CHECK(speaks(live));
  daemon.kill();
  CHECK(fails(5005, lab::End::refused));
  daemon.start();
  CHECK(daemon.status()["failed_servers"] == 0);  // what the dead one left went with its table
  CHECK(fails(5004, lab::End::reset));
}

TEST_CASE("failed server: a drain ends as before while servers fail") {
  const lab::InlineLab lab;
  Daemon daemon{lab};
  const std::string place = lab::endpoint(lab::kServer4, kClosed);
  CHECK(end_of_try(lab, place) == lab::End::reset);
  daemon.command({"drain"});
  CHECK(end_of_try(lab, place) == lab::End::refused);
  CHECK(daemon.wait() == lab::ExitStatus{0, 0});
}

TEST_CASE("failed server: a killed daemon's elements go by themselves") {
  const lab::InlineLab lab;
  Daemon daemon{lab, with_timeouts("failed_server = \"300ms\"")};
  CHECK(end_of_try(lab, lab::endpoint(lab::kServer4, kClosed)) == lab::End::reset);
  daemon.kill();
  CHECK(eventually([&] {
    return lab.middle.command({"nft", "list", "set", "inet", "headrace", "failed_ipv4"}).find("elements") ==
           std::string::npos;
  }));
}

TEST_CASE("failed server: switched off, by its key or for want of nft, every try is taken and reset") {
  const lab::InlineLab lab;
  DaemonSettings settings;
  if (GENERATE(true, false))
    settings.more = "[timeouts]\nfailed_server = \"off\"\n";
  else
    settings.intercept += "firewall = \"iptables\"\n";
  const Daemon daemon{lab, settings};
  for (const char* server : kServers) {
    for (int time = 0; time < 2; ++time)
      CHECK(end_of_try(lab, lab::endpoint(server, kClosed)) == lab::End::reset);
  }
  const auto status = daemon.status();
  CHECK(status["counters"]["accepted"] == 4);
  CHECK(status["counters"]["left_direct"] == 0);
  CHECK(status["failed_servers"] == 0);
  CHECK(daemon.log().find("failed servers") == std::string::npos);
}

TEST_CASE("failed server: a reload switches it off and on") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  const std::string good = lab::read_file(daemon.file());
  const std::string place = lab::endpoint(lab::kServer4, kClosed);
  daemon.directory().write("headrace.toml", good + "[timeouts]\nfailed_server = \"off\"\n");
  daemon.command({"reload"});
  for (int time = 0; time < 2; ++time) CHECK(end_of_try(lab, place) == lab::End::reset);
  daemon.directory().write("headrace.toml", good);
  daemon.command({"reload"});
  CHECK(end_of_try(lab, place) == lab::End::reset);
  CHECK(end_of_try(lab, place) == lab::End::refused);
}

TEST_CASE("failed server: a full set is told once, and clients are served as without it") {
  const lab::InlineLab lab;
  DaemonSettings settings;
  settings.main = "workers = 1\n";
  const Daemon daemon{lab, settings};
  std::string text;
  for (int i = 0; i < 16'384; ++i)
    text += "add element inet headrace failed_ipv4 { 203.0.113.1 . 203.0.113.2 . " + std::to_string(i + 1) +
            " timeout 1h }\n";
  lab.middle.command({"nft", "-f", "-"}, text);
  for (int port = 5001; port < 5005; ++port)
    CHECK(end_of_try(lab, lab::endpoint(lab::kServer4, port)) == lab::End::reset);
  CHECK(daemon.logged("Too many open files in system: clients that try again are taken again"));
  CHECK(daemon.log().find("leave failed servers") == daemon.log().rfind("leave failed servers"));
  CHECK(daemon.status()["failed_servers"] == 16'384);
  CHECK(way_of_new_flows(lab, listen_in_both(lab)) == "through");
}
