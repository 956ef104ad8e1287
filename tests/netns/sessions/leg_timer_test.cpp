// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

// When one byte that nobody acknowledges was sent, again and again: the gaps between its transmissions.
std::vector<std::chrono::nanoseconds> retransmission_gaps(const lab::Capture& capture, bool to_client,
                                                          int port, std::size_t count) {
  const auto same = [=](const lab::Packet& p) {
    return p.outgoing && p.payload == 7 && (to_client ? p.from_port : p.to_port) == port;
  };
  REQUIRE(capture.wait_for_count(count, same, 20s));
  std::vector<std::chrono::nanoseconds> gaps;
  const auto packets = capture.packets(same);
  for (std::size_t i = 1; i < count; ++i) gaps.push_back(packets[i].time - packets[i - 1].time);
  return gaps;
}

struct Gaps {
  std::chrono::nanoseconds to_client, to_server;  // between the last two of seven transmissions
};

Gaps gaps_after_silence(const lab::InlineLab& lab, int port) {
  const lab::Capture at_wan{lab.middle, "wan0"};
  const lab::Capture at_lan{lab.middle, "lan0"};
  const Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, static_cast<std::uint16_t>(port)));
  REQUIRE(ends.client.send_all("hello") == lab::End::done);
  REQUIRE(ends.server.receive_exactly(5).bytes == "hello");
  REQUIRE(ends.server.send_all("hello") == lab::End::done);
  REQUIRE(ends.client.receive_exactly(5).bytes == "hello");
  // What comes from the ends still passes the middle, its answers are not heard.
  silence(lab.client);
  silence(lab.server);
  REQUIRE(ends.server.send_all("seven--") == lab::End::done);
  REQUIRE(ends.client.send_all("seven--") == lab::End::done);
  const Gaps gaps{retransmission_gaps(at_wan, true, port, 7).back(),
                  retransmission_gaps(at_lan, false, port, 7).back()};
  lab.client.command({"nft", "flush", "ruleset"});
  lab.server.command({"nft", "flush", "ruleset"});
  return gaps;
}

}  // namespace

TEST_CASE("leg settings: rto_min is the floor of its own leg's timeout") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_policies(policy(5001, leg("rto_min = \"8ms\""), "\"plain\"") +
                                         policy(5002, "\"plain\"", leg("rto_min = \"8ms\"")))};
  for (const int port : {5001, 5002}) {
    const Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, static_cast<std::uint16_t>(port)));
    for (int n = 0; n < 10; ++n) {
      REQUIRE(ends.client.send_all("ask") == lab::End::done);
      REQUIRE(ends.server.receive_exactly(3).bytes == "ask");
      REQUIRE(ends.server.send_all("answer") == lab::End::done);
      REQUIRE(ends.client.receive_exactly(6).bytes == "answer");
    }
    const double client = fact(client_leg_facts(lab, port), " rto:");
    const double server = fact(server_leg_facts(lab, port), " rto:");
    CAPTURE(client, server);
    CHECK((port == 5001 ? client : server) < 150);
    CHECK((port == 5001 ? server : client) >= 200);
  }
}

TEST_CASE("leg settings: rto_max bounds the gaps between retransmissions on its own leg") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_policies(policy(5001, leg("rto_max = \"1s\""), "\"plain\"") +
                                         policy(5002, "\"plain\"", leg("rto_max = \"1s\"")))};
  const Gaps client = gaps_after_silence(lab, 5001);
  CHECK(client.to_client < 1500ms);
  CHECK(client.to_server > 2s);
  const Gaps server = gaps_after_silence(lab, 5002);
  CHECK(server.to_server < 1500ms);
  CHECK(server.to_client > 2s);
}

// Not with bbr: it never leaves what the kernel calls the initial slow start, where no stream counts as thin.
TEST_CASE("leg settings: thin_stream keeps the retransmissions of a thin leg from doubling") {
  const lab::InlineLab lab;
  const std::string thin = leg("thin_stream = true, congestion = \"cubic\"");
  const Daemon daemon{lab, with_policies(policy(5001, thin, "\"plain\"") + policy(5002, "\"plain\"", thin))};
  const Gaps client = gaps_after_silence(lab, 5001);
  CHECK(client.to_client < 1s);
  CHECK(client.to_server > 2s);
  const Gaps server = gaps_after_silence(lab, 5002);
  CHECK(server.to_server < 1s);
  CHECK(server.to_client > 2s);
}
