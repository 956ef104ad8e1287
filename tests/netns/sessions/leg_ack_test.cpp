// SPDX-License-Identifier: GPL-3.0-or-later
#include <thread>

#include "bench/workload/exchange.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kLone = 7;  // bytes of a segment that nobody answers

void say(const lab::Socket& from, const lab::Socket& to, const std::string& bytes) {
  REQUIRE(from.send_all(bytes) == lab::End::done);
  REQUIRE(to.receive_exactly(bytes.size()).bytes == bytes);
}

// How long the middle takes to acknowledge a lone small segment of `from`; the median of some. Each comes
// after an exchange, in which the kernel has learned that ACKs may wait for an answer.
std::chrono::milliseconds ack_delay(const lab::Namespace& where, const lab::Socket& from,
                                    const lab::Socket& to) {
  const lab::Capture capture{where, "eth0"};
  const auto lone = [&](const lab::Packet& p) {
    return p.payload == kLone && p.from_port == from.local_port();
  };
  std::vector<std::chrono::nanoseconds> delays;
  for (std::size_t n = 1; n <= 7; ++n) {
    say(from, to, "ask");
    say(to, from, "answer");
    say(from, to, std::string(kLone, 'x'));
    REQUIRE(capture.wait_for_count(n, lone, 10s));
    const lab::Packet sent = capture.packets(lone).back();
    const std::uint32_t end = sent.seq + static_cast<std::uint32_t>(kLone);
    const auto acknowledged = capture.wait_for(
        [&](const lab::Packet& p) {
          return p.to_port == from.local_port() && p.ack && p.acknowledges == end;
        },
        10s);
    REQUIRE(acknowledged);
    delays.push_back(acknowledged->time - sent.time);
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(lab::median(delays));
}

struct Delays {
  std::chrono::milliseconds client, server;  // of our ACKs to each end
};

Delays ack_delays(const lab::InlineLab& lab, const char* address, int port) {
  const Ends ends = connect_ends(lab, lab::endpoint(address, static_cast<std::uint16_t>(port)));
  return {ack_delay(lab.client, ends.client, ends.server), ack_delay(lab.server, ends.server, ends.client)};
}

}  // namespace

TEST_CASE("leg settings: quickack lets no ACK to a small segment wait, on its own leg") {
  const lab::InlineLab lab;
  const std::string off = leg("quickack = \"off\"");
  const Daemon daemon{lab, with_policies(policy(5001, off, leg("quickack = \"auto\"")) +
                                         policy(5002, leg("quickack = \"always\""), off))};
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    CAPTURE(address);
    const Delays first = ack_delays(lab, address, 5001);
    CHECK(first.client >= 30ms);
    CHECK(first.server < 20ms);
    const Delays second = ack_delays(lab, address, 5002);
    CHECK(second.client < 20ms);
    CHECK(second.server >= 30ms);
  }
}

TEST_CASE("leg settings: delayed_ack_max shortens the delay of its own leg's ACKs") {
  const lab::InlineLab lab;
  const std::string off = leg("quickack = \"off\"");
  const std::string brief = leg("quickack = \"off\", delayed_ack_max = \"8ms\"");
  const Daemon daemon{lab, with_policies(policy(5001, brief, off) + policy(5002, off, brief))};
  const Delays first = ack_delays(lab, lab::kServer4, 5001);
  CHECK(first.client >= 3ms);
  CHECK(first.client < 30ms);
  CHECK(first.server >= 30ms);
  const Delays second = ack_delays(lab, lab::kServer4, 5002);
  CHECK(second.client >= 30ms);
  CHECK(second.server >= 3ms);
  CHECK(second.server < 30ms);
}

TEST_CASE("leg settings: quickack auto does not double the ACKs of a bulk transfer") {
  lab::InlineLabSettings slow;  // paced by a link, so that ACKs aren't saved by full queues
  slow.client_link = lab::LinkSettings::round_trip(10ms, 20'000'000, 128 * 1024);
  const lab::InlineLab lab{slow};
  const Daemon daemon{lab, with_policies(policy(5001, leg("quickack = \"auto\""), "\"plain\""))};
  const Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, 5001));
  const lab::Capture capture{lab.middle, "wan0"};
  const std::string bytes = lab::pattern(3'000'000);
  std::jthread sender{[&] { ends.client.send_all(bytes, 30s); }};
  REQUIRE(ends.server.receive_exactly(bytes.size(), 30s).bytes == bytes);
  const auto data = capture.packets([](const lab::Packet& p) { return !p.outgoing && p.payload > 0; });
  const auto acks = capture.packets([](const lab::Packet& p) { return p.outgoing && p.payload == 0; });
  CAPTURE(data.size(), acks.size());
  // One for every second segment is the kernel's own; doubled, it were one for each.
  CHECK(acks.size() <= data.size() * 8 / 10);
}
