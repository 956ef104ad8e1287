// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/socket.h>

#include <thread>

#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

Ends ends_for_urgent(const lab::InlineLab& lab, const char* address, bool in_line) {
  lab::SocketOptions options;
  options.urgent_inline = in_line;
  return connect_ends(lab, lab::endpoint(address, 5001), options, options);
}

struct Heard {
  std::string bytes;
  std::vector<std::size_t> marks;  // offsets
};

// Reads so many bytes, stopping at marks. recv(2) stops before one, but the next crosses it; and the byte
// that is marked may come between a look and the read: so look only when there is something to read.
Heard hear(const lab::Socket& socket, std::size_t count) {
  Heard heard;
  while (heard.bytes.size() < count) {
    if (!socket.wait_for_data(20s)) break;
    const bool mark = socket.at_mark();
    if (mark) heard.marks.push_back(heard.bytes.size());
    const auto some = socket.receive_some(mark ? 1 : count - heard.bytes.size(), 20s);
    if (some.end != lab::End::done) break;
    heard.bytes += some.bytes;
  }
  return heard;
}

void check_inline(const lab::Socket& from, const lab::Socket& to) {
  REQUIRE(from.send_all("before") == lab::End::done);
  from.send_urgent('!');
  REQUIRE(to.wait_for_urgent(10s));
  REQUIRE(from.send_all("after") == lab::End::done);
  const Heard heard = hear(to, 12);
  CHECK(heard.bytes == "before!after");
  CHECK(heard.marks == std::vector<std::size_t>{6});
}

void check_out_of_band(const lab::Socket& from, const lab::Socket& to) {
  REQUIRE(from.send_all("before") == lab::End::done);
  from.send_urgent('!');
  REQUIRE(to.wait_for_urgent(10s));
  REQUIRE(from.send_all("after") == lab::End::done);
  CHECK(to.receive_some(1, 10s, MSG_OOB).bytes == "!");
  CHECK(to.receive_exactly(11).bytes == "beforeafter");
}

void check_mid_bulk(const lab::Socket& from, const lab::Socket& to) {
  const std::string bulk = lab::pattern(1'500'000);
  std::jthread sender{[&] {
    from.send_all(bulk, 30s);
    from.send_urgent('!');
    from.send_all(bulk, 30s);
  }};
  const Heard heard = hear(to, 2 * bulk.size() + 1);
  CHECK(heard.bytes == bulk + "!" + bulk);
  CHECK(heard.marks == std::vector<std::size_t>{bulk.size()});
}

template <class Check>
void check_both_ways(const lab::InlineLab& lab, bool in_line, Check check) {
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    CAPTURE(address);
    const Ends ends = ends_for_urgent(lab, address, in_line);
    check(ends.client, ends.server);
    check(ends.server, ends.client);
    check(ends.client, ends.server);
  }
}

}  // namespace

TEST_CASE("urgent: an inline receiver has the byte and the mark in place, both ways") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  check_both_ways(lab, true, check_inline);
}

TEST_CASE("urgent: a receiver without SO_OOBINLINE gets the byte beside the stream, both ways") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  check_both_ways(lab, false, check_out_of_band);
}

TEST_CASE("urgent: a mark in the middle of a bulk transfer keeps its offset, both ways") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  check_both_ways(lab, true, check_mid_bulk);
}

TEST_CASE("urgent: a break reaches a server whose answer nobody reads") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    const Ends ends = ends_for_urgent(lab, address, false);
    REQUIRE(ends.server.send_all(lab::pattern(64 << 20), 1s) == lab::End::timed_out);
    ends.client.send_urgent('!');
    REQUIRE(ends.server.wait_for_urgent(5s));
    CHECK(ends.server.receive_some(1, 1s, MSG_OOB).bytes == "!");
  }
}
