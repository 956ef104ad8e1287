// SPDX-License-Identifier: GPL-3.0-or-later
// Addresses that are written in more than one way, belong to one link only, or share a port.
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/scopes.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

TEST_CASE("rules: ends that write IPv4 as IPv6 are IPv4 to policies and to the log") {
  const lab::InlineLab lab;
  DaemonSettings settings;
  settings.intercept =
      "mode = \"" + std::string{GENERATE("tproxy", "redirect")} + "\"\ninterfaces = [\"wan0\"]\n";
  settings.policies = "[[policy]]\nname = \"four\"\nto = [\"198.18.2.2\"]\n";
  Daemon daemon{lab, settings};
  lab::SocketOptions options;
  options.dual_stack = true;
  const auto listener = lab::Socket::listen(lab.server, "[::]:5000", options);
  {
    auto client = lab::Socket::connect(lab.client, "[::ffff:198.18.2.2]:5000", options);
    const Conversation session{std::move(client), listener.accept()};
    CHECK(speaks(session));
    CHECK(session.client.peer() == "[::ffff:198.18.2.2]:5000");
    CHECK(session.server.peer().starts_with("[::ffff:198.18."));
  }
  CHECK(daemon.logged("client=198.18.1.2:"));
  CHECK(daemon.logged("server=198.18.2.2:5000 policy=four"));
}

TEST_CASE("rules: one client port may have sessions with several destinations at once") {
  const lab::InlineLab lab;
  lab.add_server_address("198.18.2.9");
  const Daemon daemon{lab};
  std::vector<lab::Socket> listeners;
  for (const char* place : {"198.18.2.2:5000", "198.18.2.2:5001", "198.18.2.9:5000"})
    listeners.push_back(lab::Socket::listen(lab.server, place));
  lab::SocketOptions options;
  options.bind = "198.18.1.2:40200";
  std::vector<Conversation> sessions;
  for (const lab::Socket& listener : listeners) sessions.push_back(converse(lab, listener, options));
  for (const Conversation& session : sessions) {
    CHECK(speaks(session));
    CHECK(session.server.peer() == options.bind);
  }
  const auto counters = daemon.status()["counters"];
  CHECK(counters["accepted"] == 3);
  CHECK(counters["other_port"] == 0);
}

// A router forwards nothing from such an address, so neither may a session.
TEST_CASE("rules: a client with an address of its link alone hears from the network, not from headrace") {
  const lab::InlineLab lab;
  lab.client.ip("addr add fe80::2/64 dev eth0");
  const std::string to = lab::endpoint(lab::kServer6, 5000);
  lab::SocketOptions options;
  options.bind = "[" + scoped("fe80::2", lab.client, "eth0") + "]:0";
  options.timeout = 2s;
  const auto listener = lab::Socket::listen(lab.server, to);
  DaemonSettings settings;
  settings.start = false;
  Daemon daemon{lab, settings};
  const auto direct = lab::Socket::try_connect(lab.client, to, options).end;
  daemon.start();
  CHECK(lab::Socket::try_connect(lab.client, to, options).end == direct);
  CHECK(daemon.status()["counters"]["accepted"] == 0);
}

TEST_CASE("rules: a forwarder listens at and connects to addresses of one link") {
  const lab::InlineLab lab;
  lab.client.ip("addr add fe80::2/64 dev eth0");
  lab.middle.ip("addr add fe80::1/64 dev wan0\naddr add fe80::3/64 dev lan0");
  lab.server.ip("addr add fe80::4/64 dev eth0");
  DaemonSettings settings;
  settings.intercept = "interfaces = []\n";
  settings.more = "[[forward]]\nlisten = \"[" + scoped("fe80::1", lab.middle, "wan0") + "]:1522\"\nto = \"[" +
                  scoped("fe80::4", lab.middle, "lan0") + "]:5000\"\n";
  Daemon daemon{lab, settings};
  const auto listener =
      lab::Socket::listen(lab.server, "[" + scoped("fe80::4", lab.server, "eth0") + "]:5000");
  {
    const Conversation session{
        .client = lab::Socket::connect(lab.client, "[" + scoped("fe80::1", lab.client, "eth0") + "]:1522"),
        .server = listener.accept()};
    CHECK(speaks(session));
    CHECK(carries(session.server, session.client, 300'000));
    CHECK(session.server.peer().starts_with("[fe80::3%"));
  }
  CHECK(daemon.logged("client=[" + scoped("fe80::2", lab.middle, "wan0") + "]:"));
}
