// SPDX-License-Identifier: GPL-3.0-or-later
// What decides how a leg sends. Only ss(8) shows the congestion control and the send buffer of a leg of ours.
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

TEST_CASE("leg settings: congestion is chosen for each leg by itself") {
  const lab::InlineLab lab;
  const Daemon daemon{
      lab, with_policies(policy(5001, leg("congestion = \"reno\""), leg("congestion = \"cubic\"")) +
                         policy(5002, leg("congestion = \"cubic\""), leg("congestion = \"reno\"")))};
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    const Ends one = connect_ends(lab, lab::endpoint(address, 5001));
    const Ends two = connect_ends(lab, lab::endpoint(address, 5002));
    CHECK_THAT(client_leg_facts(lab, 5001), Contains(" reno ") && !Contains(" cubic "));
    CHECK_THAT(server_leg_facts(lab, 5001), Contains(" cubic ") && !Contains(" reno "));
    CHECK_THAT(client_leg_facts(lab, 5002), Contains(" cubic ") && !Contains(" reno "));
    CHECK_THAT(server_leg_facts(lab, 5002), Contains(" reno ") && !Contains(" cubic "));
  }
}

TEST_CASE("leg settings: send_buffer fixes the send buffer of its own leg") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_policies(policy(5001, leg("send_buffer = \"48KiB\""), "\"plain\"") +
                                         policy(5002, "\"plain\"", leg("send_buffer = \"48KiB\"")))};
  constexpr double kSeen = 2 * 48 * 1024;  // the kernel doubles what it is given
  const Ends one = connect_ends(lab, lab::endpoint(lab::kServer4, 5001));
  const Ends two = connect_ends(lab, lab::endpoint(lab::kServer4, 5002));
  CHECK(fact(client_leg_facts(lab, 5001), ",tb") == kSeen);
  CHECK(fact(server_leg_facts(lab, 5001), ",tb") != kSeen);
  CHECK(fact(client_leg_facts(lab, 5002), ",tb") != kSeen);
  CHECK(fact(server_leg_facts(lab, 5002), ",tb") == kSeen);
}

namespace {

// Bytes that a leg has queued and not sent while its reader does not read. Six buffers grow on the way.
double unsent_with_a_paused_reader(const lab::InlineLab& lab, int port, bool to_client) {
  const Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, static_cast<std::uint16_t>(port)));
  const auto& sender = to_client ? ends.server : ends.client;
  REQUIRE(sender.send_all(lab::pattern(64 << 20), 1s) == lab::End::timed_out);
  return fact(to_client ? client_leg_facts(lab, port) : server_leg_facts(lab, port), "notsent:");
}

}  // namespace

TEST_CASE("leg settings: unsent_limit bounds what its leg queues unsent, and only there") {
  const lab::InlineLab lab;
  const std::string limit = leg("unsent_limit = \"16KiB\"");
  const Daemon daemon{lab,
                      with_policies(policy(5001, limit, "\"plain\"") + policy(5002, "\"plain\"", limit))};
  // A write that begins below the limit may be as large as a read of the relay.
  constexpr double kMost = (16 + 64 + 16) * 1024;
  CHECK(unsent_with_a_paused_reader(lab, 5001, true) <= kMost);
  CHECK(unsent_with_a_paused_reader(lab, 5001, false) > kMost);
  CHECK(unsent_with_a_paused_reader(lab, 5002, false) <= kMost);
  CHECK(unsent_with_a_paused_reader(lab, 5002, true) > kMost);
}
