// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/socket.h>

#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

// One end says its last words and resets, in both families; the other hears the words and then the reset.
void reset_passes(lab::Socket Ends::*speaker, lab::Socket Ends::*listener, const std::string& reason) {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    CAPTURE(address);
    Ends ends = connect_ends(lab, lab::endpoint(address, 5001));
    const std::string last = lab::pattern(30'000);
    REQUIRE((ends.*speaker).send_all(last) == lab::End::done);
    CHECK(eventually([&] { return (ends.*listener).unread() == last.size(); }));
    (ends.*speaker).reset();
    const auto heard = (ends.*listener).receive_to_end();
    CHECK(heard.end == lab::End::reset);
    CHECK(heard.bytes == last);
  }
  CHECK(daemon.logged("closed=" + reason, 2));
}

}  // namespace

TEST_CASE("reset: the client's reset reaches the server after the data before it") {
  reset_passes(&Ends::client, &Ends::server, "client_reset");
}

TEST_CASE("reset: the server's reset reaches the client, and what headrace had read before it as well") {
  reset_passes(&Ends::server, &Ends::client, "server_reset");
}

TEST_CASE("reset: data that one end sent before its reset arrives though the other did not read yet") {
  lab::InlineLabSettings settings;  // slow enough that most of it is still in headrace
  settings.server_link = lab::LinkSettings::round_trip(20ms, 4'000'000, 64 * 1024);
  const lab::InlineLab lab{settings};
  const Daemon daemon{lab};
  Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, 5001));
  const std::string last = lab::pattern(200'000);
  REQUIRE(ends.client.send_all(last) == lab::End::done);
  CHECK(eventually([&] { return ends.client.unacknowledged() == 0; }));
  ends.client.reset();
  const auto heard = ends.server.receive_to_end(30s);
  CHECK(heard.end == lab::End::reset);
  CHECK(heard.bytes == last);
}

TEST_CASE("reset: a client that resets in mid-download ends the server's sending") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, 5001));
  REQUIRE(ends.server.send_all(lab::pattern(64 << 20), 1s) == lab::End::timed_out);
  ends.client.reset();
  const auto end = ends.server.send_all(lab::pattern(64 << 20), 10s);
  CHECK((end == lab::End::reset || end == lab::End::broken_pipe));
  CHECK(daemon.logged("closed=client_reset"));
}

TEST_CASE("reset: a server that ends while the client still sends gets its last bytes through") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  for (int n = 0; n < 20; ++n) {
    Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, 5001));
    const std::string answer = lab::pattern(200'000, static_cast<std::uint64_t>(n + 1));
    REQUIRE(ends.client.send_all("ask") == lab::End::done);
    REQUIRE(ends.server.receive_exactly(3).bytes == "ask");
    REQUIRE(ends.server.send_all(answer) == lab::End::done);
    ends.server.shutdown_write();
    REQUIRE(ends.client.send_all(lab::pattern(50'000)) == lab::End::done);
    CHECK(ends.client.receive_exactly(answer.size()).bytes == answer);
  }
}
