// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

DaemonSettings with_timeouts(const std::string& keys) {
  DaemonSettings settings;
  settings.more = "[timeouts]\n" + keys;
  return settings;
}

}  // namespace

TEST_CASE("timeouts.idle: a session in which nothing moves is reset after it, one that moves is not") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_timeouts("idle = \"1500ms\"\n")};
  const Ends quiet = connect_ends(lab, lab::endpoint(lab::kServer4, 5001));
  const Ends busy = connect_ends(lab, lab::endpoint(lab::kServer4, 5002));
  for (int n = 0; n < 8; ++n) {
    REQUIRE(busy.client.send_all("x") == lab::End::done);
    REQUIRE(busy.server.receive_exactly(1).bytes == "x");
    static_cast<void>(busy.client.receive_some(1, 300ms));
  }
  CHECK(quiet.client.receive_to_end().end == lab::End::reset);
  CHECK(quiet.server.receive_to_end().end == lab::End::reset);
  CHECK(daemon.logged("closed=idle_timeout"));
  CHECK(busy.client.send_all("still") == lab::End::done);
  CHECK(busy.server.receive_exactly(5).bytes == "still");
}

TEST_CASE("timeouts.connect: a reload takes no deadline away") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_timeouts("connect = \"3s\"\n")};
  silence(lab.server);
  std::vector<lab::Socket> clients;
  while (clients.size() < 20)
    clients.push_back(lab::Socket::connect(lab.client, lab::endpoint(lab::kServer4, 5001)));
  daemon.command({"reload"});
  for (const lab::Socket& client : clients) CHECK(client.receive_to_end(8s).end == lab::End::reset);
  CHECK(daemon.logged("closed=connect_timeout", 20));
}

TEST_CASE("timeouts.half_closed: ends a half-closed session in which nothing moves, and no other") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_timeouts("half_closed = \"1s\"\n")};
  const Ends whole = connect_ends(lab, lab::endpoint(lab::kServer4, 5001));
  const Ends half = connect_ends(lab, lab::endpoint(lab::kServer4, 5002));
  half.client.shutdown_write();
  CHECK(half.server.receive_to_end().end == lab::End::end_of_stream);
  for (int n = 0; n < 8; ++n) {  // slow and alive: twice as long as the timeout
    REQUIRE(half.server.send_all("x") == lab::End::done);
    REQUIRE(half.client.receive_exactly(1).bytes == "x");
    static_cast<void>(half.client.receive_some(1, 250ms));
  }
  CHECK(half.client.receive_to_end().end == lab::End::reset);
  CHECK(daemon.logged("closed=half_closed_timeout"));
  CHECK(whole.client.send_all("still") == lab::End::done);
  CHECK(whole.server.receive_exactly(5).bytes == "still");
}
