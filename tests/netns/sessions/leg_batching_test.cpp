// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <csignal>
#include <numeric>
#include <thread>

#include "bench/workload/exchange.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

using PacketIs = lab::Capture::Predicate;

// A second small message, handed to headrace when the first has left it and is not acknowledged yet: how long
// after the first it leaves.
std::chrono::nanoseconds gap_between_two(const lab::Capture& capture, const lab::Socket& from,
                                         const lab::Socket& to) {
  const std::uint16_t port = to.local_port(), peer = to.peer_port();
  const PacketIs sent = [=](const lab::Packet& p) {
    return p.outgoing && p.payload > 0 && p.to_port == port && p.from_port == peer;
  };
  REQUIRE(from.send_all("first") == lab::End::done);
  REQUIRE(capture.wait_for_count(1, sent, 10s));
  REQUIRE(from.send_all("second") == lab::End::done);
  REQUIRE(to.receive_exactly(11).bytes == "firstsecond");
  const auto packets = capture.packets(sent);
  return packets.at(1).time - packets.at(0).time;
}

struct BothWays {
  std::chrono::nanoseconds to_client, to_server;
};

BothWays gaps(const lab::InlineLab& lab, int port) {
  const Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, static_cast<std::uint16_t>(port)));
  const lab::Capture at_wan{lab.middle, "wan0"};
  const lab::Capture at_lan{lab.middle, "lan0"};
  return {gap_between_two(at_wan, ends.server, ends.client),
          gap_between_two(at_lan, ends.client, ends.server)};
}

// How the client gets bytes that were all readable at once: the segments that are not full.
std::size_t partial_segments(const lab::InlineLab& lab, const Daemon& daemon, int port, std::size_t size) {
  lab::SocketOptions roomy;
  roomy.receive_buffer = 4 << 20;
  const Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, static_cast<std::uint16_t>(port)), roomy);
  const lab::Capture at_client{lab.client, "eth0"};
  const std::string bytes = lab::pattern(size);
  const PacketIs partial = [](const lab::Packet& p) {
    return !p.outgoing && p.payload > 0 && p.payload < 1448;
  };
  daemon.signal(SIGSTOP);
  REQUIRE(ends.server.send_all(bytes) == lab::End::done);
  CHECK(eventually([&] { return ends.server.unacknowledged() == 0; }));
  daemon.signal(SIGCONT);
  REQUIRE(ends.client.receive_exactly(size).bytes == bytes);
  return at_client.packets(partial).size();
}

}  // namespace

TEST_CASE("leg settings: nodelay lets a small segment leave before the one ahead is acknowledged") {
  lab::InlineLabSettings far;
  far.client_link = far.server_link = lab::LinkSettings::round_trip(60ms);
  const lab::InlineLab lab{far};
  const Daemon daemon{lab, with_policies(policy(5001, leg("nodelay = false"), "\"plain\"") +
                                         policy(5002, "\"plain\"", leg("nodelay = false")))};
  const BothWays client_waits = gaps(lab, 5001);
  CHECK(client_waits.to_client >= 50ms);
  CHECK(client_waits.to_server < 40ms);
  const BothWays server_waits = gaps(lab, 5002);
  CHECK(server_waits.to_server >= 50ms);
  CHECK(server_waits.to_client < 40ms);
}

TEST_CASE("leg settings: cork auto joins what is readable of a burst into full segments") {
  lab::InlineLabSettings far;  // the relay has read it all before the first ACK comes and pushes what waits
  far.client_link = lab::LinkSettings::round_trip(40ms);
  const lab::InlineLab lab{far};
  const std::string roomy = leg("receive_buffer = \"1MiB\"");
  const Daemon daemon{lab, with_policies(policy(5001, leg("cork = \"auto\""), roomy))};
  CHECK(partial_segments(lab, daemon, 5001, 200'001) <= 1);  // a burst: bulk moves by splice, piece by piece
}

TEST_CASE("leg settings: cork auto delays no last byte") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_policies(policy(5001, leg("cork = \"auto\""), leg("cork = \"auto\"")))};
  const Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, 5001));
  for (const std::size_t size : {1UL, 1000UL, 1448UL, 1449UL, 9356UL, 65536UL, 65537UL, 150'000UL}) {
    CAPTURE(size);
    const std::string answer = lab::pattern(size);
    std::vector<std::chrono::nanoseconds> times;
    for (int n = 0; n < 9; ++n) {
      const auto start = std::chrono::steady_clock::now();
      REQUIRE(ends.client.send_all("ask") == lab::End::done);
      REQUIRE(ends.server.receive_exactly(3).bytes == "ask");
      std::jthread sender{[&] { ends.server.send_all(answer); }};
      REQUIRE(ends.client.receive_exactly(size).bytes == answer);
      times.push_back(since(start));
    }
    CHECK(lab::median(times) < 30ms);
  }
}

TEST_CASE("leg settings: a cork time joins messages that come within it, and pushes at its end") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_policies(policy(5001, leg("cork = \"150ms\""), "\"plain\""))};
  const Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, 5001));
  const lab::Capture at_client{lab.client, "eth0"};
  const lab::Capture at_server{lab.server, "eth0"};
  const PacketIs written = [](const lab::Packet& p) { return p.outgoing && p.payload == 100; };
  const PacketIs arrived = [](const lab::Packet& p) { return !p.outgoing && p.payload > 0; };
  for (std::size_t n = 1; n <= 2; ++n) {
    REQUIRE(ends.server.send_all(std::string(100, 'a')) == lab::End::done);
    REQUIRE(at_server.wait_for_count(n, written, 10s));
  }
  REQUIRE(ends.client.receive_exactly(200).bytes == std::string(200, 'a'));
  REQUIRE(at_client.wait_for(arrived, 10s));
  const auto segments = at_client.packets(arrived);
  REQUIRE(segments.size() == 1);
  const auto held = segments.front().time - at_server.packets(written).front().time;
  CHECK(held >= 140ms);
  CHECK(held < 1s);
  // The other leg has no such time.
  const auto start = std::chrono::steady_clock::now();
  REQUIRE(ends.client.send_all("now") == lab::End::done);
  REQUIRE(ends.server.receive_exactly(3).bytes == "now");
  CHECK(since(start) < 100ms);
}

namespace {

constexpr std::size_t kWrites = 60;
constexpr std::size_t kAnswer = 9'356;

// 9,356 bytes in 60 writes over 2 ms, too short for anything but looking at the clock.
void write_in_small_pieces(const lab::Socket& server, const std::string& answer) {
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t n = 0; n < kWrites; ++n) {
    while (since(start) < 2ms * n / kWrites) std::this_thread::yield();
    const std::size_t from = answer.size() * n / kWrites, to = answer.size() * (n + 1) / kWrites;
    REQUIRE(server.send_all(answer.substr(from, to - from)) == lab::End::done);
  }
}

// Payload of the segments in which the client gets such an answer.
std::vector<std::size_t> segments_of_answer(const lab::InlineLab& lab, const char* address, int port) {
  const Ends ends = connect_ends(lab, lab::endpoint(address, static_cast<std::uint16_t>(port)));
  const lab::Capture at_client{lab.client, "eth0"};
  const std::string answer = lab::pattern(kAnswer);
  write_in_small_pieces(ends.server, answer);
  REQUIRE(ends.client.receive_exactly(answer.size()).bytes == answer);
  std::vector<std::size_t> sizes;
  CHECK(eventually([&] {
    sizes.clear();
    for (const auto& p : at_client.packets())
      if (!p.outgoing && p.payload > 0) sizes.push_back(p.payload);
    return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}) == kAnswer;
  }));
  return sizes;
}

}  // namespace

TEST_CASE("leg settings: with a cork time an answer in 60 small writes over 2 ms leaves as full segments") {
  lab::InlineLabSettings whole;
  whole.client_veth.offload = false;
  const lab::InlineLab lab{whole};
  const Daemon daemon{lab, with_policies(policy(5001, leg("cork = \"150ms\""), "\"plain\"") +
                                         policy(5002, leg("cork = \"off\""), "\"plain\""))};
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    CAPTURE(address);
    const std::size_t full = address == lab::kServer4 ? 1448 : 1428;
    const auto sizes = segments_of_answer(lab, address, 5001);
    REQUIRE(sizes.size() == kAnswer / full + 1);
    CHECK(std::all_of(sizes.begin(), sizes.end() - 1, [=](std::size_t size) { return size == full; }));
    // What cork spares. Whoever is not woken in time finds several writes at once.
    CHECK(eventually([&] { return segments_of_answer(lab, address, 5002).size() > 2 * sizes.size(); }));
  }
}
