// SPDX-License-Identifier: GPL-3.0-or-later
// As whom the server leg comes to the server.
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;

namespace {

std::string host_of(const std::string& endpoint) { return endpoint.substr(0, endpoint.rfind(':')); }

bool is_v6(const lab::Socket& listener) { return listener.local().front() == '['; }

std::string middle_seen_by(const lab::Socket& listener) {
  return host_of(lab::endpoint(is_v6(listener) ? lab::kMiddleLan6 : lab::kMiddleLan4, 1));
}

DaemonSettings connecting_as(const std::string& whom) {
  DaemonSettings settings;
  settings.policies = "[[policy]]\nname = \"all\"\nto = [\"any\"]\nconnect_as = \"" + whom + "\"\n";
  return settings;
}

}  // namespace

TEST_CASE("rules: connect_as client shows the server the client's address and port") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, connecting_as("client")};
  for (const lab::Socket& listener : listen_in_both(lab)) {
    const auto session = converse(lab, listener);
    CHECK(speaks(session));
    CHECK(session.server.peer() == session.client.local());
    CHECK(session.client.peer() == listener.local());
  }
}

TEST_CASE("rules: a client whose port is that of a listener is served as itself") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  for (const lab::Socket& listener : listen_in_both(lab)) {
    lab::SocketOptions options;
    options.bind = lab::endpoint(is_v6(listener) ? lab::kClient6 : lab::kClient4, 18500);
    const auto session = converse(lab, listener, options);
    CHECK(speaks(session));
    CHECK(is_through(lab, session));
    CHECK(session.server.peer() == options.bind);
  }
}

TEST_CASE("rules: connect_as client-address shows the server the client's address alone") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, connecting_as("client-address")};
  for (const lab::Socket& listener : listen_in_both(lab)) {
    const auto session = converse(lab, listener);
    CHECK(speaks(session));
    CHECK(host_of(session.server.peer()) == host_of(session.client.local()));
    CHECK(session.server.peer_port() != session.client.local_port());
  }
}

TEST_CASE("rules: connect_as proxy shows the server this host's address") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, connecting_as("proxy")};
  for (const lab::Socket& listener : listen_in_both(lab)) {
    const auto session = converse(lab, listener);
    CHECK(speaks(session));
    CHECK(host_of(session.server.peer()) == middle_seen_by(listener));
    CHECK(session.client.peer() == listener.local());
  }
}

TEST_CASE("rules: redirect mode works in both families and shows the server this host's address") {
  const lab::InlineLab lab;
  DaemonSettings settings;
  settings.intercept = "mode = \"redirect\"\ninterfaces = [\"wan0\"]\n";
  settings.intercept += GENERATE("", "firewall = \"iptables\"\n");
  const Daemon daemon{lab, settings};
  for (const lab::Socket& listener : listen_in_both(lab)) {
    INFO(listener.local());
    const auto session = converse(lab, listener);
    CHECK(speaks(session));
    CHECK(carries(session.client, session.server, 300'000));
    CHECK(carries(session.server, session.client, 300'000));
    CHECK(host_of(session.server.peer()) == middle_seen_by(listener));
    CHECK(session.client.peer() == listener.local());
  }
  CHECK(daemon.status()["counters"]["accepted"] == 2);
}
