// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/socket.hpp"

#include <sys/socket.h>

#include "tests/test.hpp"

namespace headrace::lab {
namespace {

struct Pair {
  Namespace space{"socket"};
  Socket listener = Socket::listen(space, "127.0.0.1:0");
  Socket client = Socket::connect(space, listener.local());
  Socket server = listener.accept();
};

}  // namespace

TEST_CASE("socket: bytes and both ends' names arrive") {
  const Pair pair;
  CHECK(pair.client.local() == pair.server.peer());
  CHECK(pair.client.peer_port() == pair.listener.local_port());
  REQUIRE(pair.client.send_all("hello") == End::done);
  CHECK(pair.server.receive_exactly(5).bytes == "hello");
  CHECK(pair.client.tcp().sack);
}

TEST_CASE("socket: end of stream, reset and silence are told apart") {
  Pair pair;
  CHECK(pair.client.receive_some(1, 10ms).end == End::timed_out);
  pair.server.send_all("last");
  pair.server.shutdown_write();
  const Received tail = pair.client.receive_to_end();
  CHECK(tail.bytes == "last");
  CHECK(tail.end == End::end_of_stream);
  pair.client.reset();
  CHECK(pair.server.receive_to_end().end == End::reset);
}

TEST_CASE("socket: a refused connection says so") {
  const Namespace space("refused");
  CHECK(Socket::try_connect(space, "127.0.0.1:9").end == End::refused);
  CHECK(Socket::try_connect(space, "198.18.9.9:9").end == End::unreachable);
  CHECK_THROWS(Socket::connect(space, "127.0.0.1:9"));
}

TEST_CASE("socket: options are there before the connection is") {
  const Namespace space("options");
  SocketOptions options;
  options.mss = 777;
  options.receive_buffer = 16'384;
  options.congestion = "reno";
  options.bind = "127.0.0.5:4000";
  const Socket listener = Socket::listen(space, "[::1]:0", {});
  const Socket four = Socket::listen(space, "127.0.0.1:0", {});
  const Socket client = Socket::connect(space, four.local(), options);
  CHECK(client.local() == "127.0.0.5:4000");
  CHECK(client.congestion() == "reno");
  CHECK(four.accept().tcp().send_mss <= 777);
  CHECK(Socket::connect(space, listener.local()).peer() == listener.local());
}

TEST_CASE("socket: an urgent byte wakes its reader and marks its place") {
  const Pair pair;
  pair.server.set_option(SOL_SOCKET, SO_OOBINLINE, 1);
  pair.client.send_all("ab");
  pair.client.send_urgent('!');
  REQUIRE(pair.server.wait_for_urgent(10s));
  CHECK(pair.server.receive_some(100).bytes == "ab");
  CHECK(pair.server.at_mark());
  CHECK(pair.server.receive_some(1).bytes == "!");
}

TEST_CASE("socket: a pattern is the same for the same seed only") {
  CHECK(pattern(1001) == pattern(1001));
  CHECK(pattern(1001).size() == 1001);
  CHECK(pattern(1001, 1) != pattern(1001, 2));
}

}  // namespace headrace::lab
