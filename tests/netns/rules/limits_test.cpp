// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;

namespace {

DaemonSettings limited(const std::string& limits) {
  DaemonSettings settings;
  settings.more = "[limits]\n" + limits;
  return settings;
}

std::vector<Conversation> open(const lab::InlineLab& lab, const std::vector<lab::Socket>& listeners,
                               std::size_t count) {
  std::vector<Conversation> sessions;
  for (std::size_t i = 0; i < count; ++i) {
    sessions.push_back(converse(lab, listeners[i % listeners.size()]));
    CHECK(speaks(sessions.back()));
    CHECK(is_through(lab, sessions.back()));
  }
  return sessions;
}

}  // namespace

TEST_CASE("limits: beyond limits.sessions new flows go direct, until sessions have ended") {
  const lab::InlineLab lab;
  Daemon daemon{lab, limited("sessions = 4\nsessions_per_client = 4\n")};
  const auto listeners = listen_in_both(lab);
  auto sessions = open(lab, listeners, 4);
  CHECK(daemon.logged("overload: new flows go straight to the server"));
  CHECK(daemon.status()["overload"] == true);
  CHECK(way_of_new_flows(lab, listeners) == "direct");
  for (const Conversation& session : sessions) CHECK(speaks(session));

  sessions.pop_back();
  sessions.pop_back();
  CHECK(daemon.logged("overload is over"));
  CHECK(daemon.status()["overload"] == false);
  CHECK(is_through(lab, converse(lab, listeners.front())));
}

TEST_CASE("limits: with overload = refuse a flow too many is reset and counted") {
  const lab::InlineLab lab;
  Daemon daemon{lab, limited("sessions = 4\nsessions_per_client = 4\noverload = \"refuse\"\n")};
  const auto listeners = listen_in_both(lab);
  auto sessions = open(lab, listeners, 4);
  const auto fifth = lab::Socket::try_connect(lab.client, listeners.front().local());
  if (fifth.end == lab::End::done) CHECK(fifth.socket.receive_to_end().end == lab::End::reset);
  CHECK(daemon.status()["counters"]["refused_limit"] == 1);
  CHECK(daemon.status()["overload"] == false);

  sessions.pop_back();
  REQUIRE(eventually([&] { return daemon.status()["sessions"] == 3; }));
  CHECK(open(lab, listeners, 1).size() == 1);
}

TEST_CASE("limits: a client beyond limits.sessions_per_client is reset, and others are served") {
  const lab::InlineLab lab;
  lab.add_client_address("198.18.1.9");
  Daemon daemon{lab, limited("sessions = 100\nsessions_per_client = 2\n")};
  const std::vector<lab::Socket> listeners = listen_in_both(lab);
  const auto sessions = open(lab, listeners, 4);  // two from each of the client's addresses
  const auto third = lab::Socket::try_connect(lab.client, listeners.front().local());
  if (third.end == lab::End::done) CHECK(third.socket.receive_to_end().end == lab::End::reset);
  CHECK(daemon.status()["counters"]["refused_limit"] == 1);
  lab::SocketOptions other;
  other.bind = "198.18.1.9:0";
  const auto served = converse(lab, listeners.front(), other);
  CHECK(speaks(served));
  CHECK(is_through(lab, served));
}
