// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

TEST_CASE("half-close: a client that has finished still gets a late reply") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    CAPTURE(address);
    const Ends ends = connect_ends(lab, lab::endpoint(address, 5001));
    REQUIRE(ends.client.send_all("request") == lab::End::done);
    ends.client.shutdown_write();
    const auto request = ends.server.receive_to_end();
    CHECK(request.bytes == "request");
    CHECK(request.end == lab::End::end_of_stream);
    // Nothing ends it by itself; then the reply comes.
    CHECK(ends.client.receive_some(1, 2s).end == lab::End::timed_out);
    REQUIRE(ends.server.send_all("late reply") == lab::End::done);
    ends.server.shutdown_write();
    const auto reply = ends.client.receive_to_end();
    CHECK(reply.bytes == "late reply");
    CHECK(reply.end == lab::End::end_of_stream);
  }
  CHECK(daemon.logged("closed=client_fin", 2));
}

TEST_CASE("half-close: a server that finishes first still hears the client to its end") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    CAPTURE(address);
    const Ends ends = connect_ends(lab, lab::endpoint(address, 5001));
    REQUIRE(ends.server.send_all("bye") == lab::End::done);
    ends.server.shutdown_write();
    const auto farewell = ends.client.receive_to_end();
    CHECK(farewell.bytes == "bye");
    CHECK(farewell.end == lab::End::end_of_stream);
    const std::string rest = lab::pattern(400'000);
    REQUIRE(ends.client.send_all(rest) == lab::End::done);
    ends.client.shutdown_write();
    const auto heard = ends.server.receive_to_end();
    CHECK(heard.bytes == rest);
    CHECK(heard.end == lab::End::end_of_stream);
  }
  CHECK(daemon.logged("closed=server_fin", 2));
}

TEST_CASE("half-close: a client may finish before the server has accepted") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  const std::string place = lab::endpoint(lab::kServer4, 5001);
  const auto listener = lab::Socket::listen(lab.server, place);
  const auto client = lab::Socket::connect(lab.client, place);
  REQUIRE(client.send_all("all of it") == lab::End::done);
  client.shutdown_write();
  const auto server = listener.accept();
  CHECK(server.receive_to_end().bytes == "all of it");
  REQUIRE(server.send_all("reply") == lab::End::done);
  server.shutdown_write();
  CHECK(client.receive_to_end().bytes == "reply");
}
