// SPDX-License-Identifier: GPL-3.0-or-later
// The same client port to the same destination again, at once: what is left of the first connection is in
// TIME_WAIT, in the middle too. A SYN that is dropped would cost a second.
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

lab::SocketOptions from_port(const lab::Socket& listener, int port) {
  const bool ipv6 = listener.local().front() == '[';
  lab::SocketOptions options;
  options.bind = lab::endpoint(ipv6 ? lab::kClient6 : lab::kClient4, port);
  return options;
}

void end(lab::Socket& first, lab::Socket& second) {
  first.shutdown_write();
  CHECK(second.receive_to_end().end == lab::End::end_of_stream);
  second.close();
  CHECK(first.receive_to_end().end == lab::End::end_of_stream);
  first.close();
}

}  // namespace

TEST_CASE("rules: a port is good again at once after the server closed first") {
  const lab::InlineLab lab;
  Daemon daemon{lab};
  int ended = 0;
  for (const lab::Socket& listener : listen_in_both(lab)) {
    const auto options = from_port(listener, 40001);
    auto first = converse(lab, listener, options);
    CHECK(speaks(first));
    end(first.server, first.client);
    REQUIRE(daemon.logged("closed=server_fin", ++ended));
    const auto again = converse(lab, listener, options);
    INFO(listener.local());
    CHECK(again.connected_in < 100ms);
    CHECK(speaks(again));
    CHECK(is_through(lab, again));
    CHECK(again.server.peer() == again.client.local());
  }
  CHECK(daemon.status()["counters"]["other_port"] == 0);
}

TEST_CASE("rules: a port is good again at once after the client closed first") {
  const lab::InlineLab lab;
  lab.client.sysctl("net.ipv4.tcp_max_tw_buckets", "0");  // a client that forgets, as one behind a NAT does
  // The old server leg is in TIME_WAIT here. The kernel lets its addresses go when it had timestamps, and
  // then the server sees the client's own port again.
  const bool timestamps = GENERATE(true, false);
  lab.server.sysctl("net.ipv4.tcp_timestamps", timestamps ? "1" : "0");
  Daemon daemon{lab};
  int ended = 0;
  for (const lab::Socket& listener : listen_in_both(lab)) {
    INFO(listener.local() << (timestamps ? "" : " without timestamps"));
    const auto options = from_port(listener, 40002);
    auto first = converse(lab, listener, options);
    CHECK(speaks(first));
    end(first.client, first.server);
    REQUIRE(daemon.logged("closed=client_fin", ++ended));
    auto again = converse(lab, listener, options);
    CHECK(again.connected_in < 100ms);
    CHECK(speaks(again));
    CHECK(is_through(lab, again));
    CHECK((again.server.peer() == again.client.local()) == timestamps);
    again.client.reset();
    CHECK(again.server.receive_to_end().end == lab::End::reset);
    REQUIRE(daemon.logged("closed=client_reset", ended));
    if (!timestamps) CHECK(daemon.logged(" port=other ", ended));
  }
  CHECK(daemon.status()["counters"]["other_port"] == (timestamps ? 0 : 2));
}
