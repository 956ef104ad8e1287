// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/workload/moderation.hpp"

#include <algorithm>

#include "bench/workload/exchange.hpp"
#include "tests/test.hpp"

namespace headrace::lab {
namespace {

// Round trips until `bytes` have left, when each acknowledges all that was sent in the one before.
int rounds_for(std::size_t bytes) {
  constexpr std::size_t kSegment = 1448;
  BurstModeration moderation(kSegment);
  moderation.start();
  int rounds = 0;
  while (true) {
    const std::size_t burst = std::min(bytes, moderation.may_send(0));
    bytes -= burst;
    ++rounds;
    if (bytes == 0) return rounds;
    moderation.on_acknowledged(burst, 0);
  }
}

}  // namespace

TEST_CASE("moderation: the story's answers cost the story's round trips") {
  CHECK(rounds_for(6 * 1448) == 1);
  CHECK(rounds_for(9'356) == 2);
  CHECK(rounds_for(50'000) == 3);
}

TEST_CASE("moderation: a burst beyond what is in flight, and no more") {
  BurstModeration moderation(1000);
  moderation.start();
  CHECK(moderation.may_send(0) == 6000);
  CHECK(moderation.may_send(6000) == 0);
  moderation.on_acknowledged(2000, 4000);
  CHECK(moderation.may_send(4000) == 6000);
  moderation.on_acknowledged(500, 9500);
  CHECK(moderation.may_send(9500) == 6000);
}

TEST_CASE("round trips: what the bytes take on the link is no waiting") {
  using namespace std::chrono_literals;
  CHECK(round_trips(80ms, 0, 0, 40ms) == Approx(2));
  CHECK(round_trips(41ms, 12'073, 100'000'000, 40ms) == Approx(1).epsilon(0.001));
}

TEST_CASE("median: of an odd number, and of none") {
  using namespace std::chrono_literals;
  CHECK(median({3ms, 1ms, 2ms}) == 2ms);
  CHECK(median({}) == 0ms);
}

}  // namespace headrace::lab
