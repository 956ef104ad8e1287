// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/pacer.hpp"

#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr SegmentShape kEthernet{1448, 52};

// Lets `pacer` send all it may from `start` for so long, waking up when it says so; returns payload bytes.
std::size_t sent_within(Pacer& pacer, Instant start, std::chrono::nanoseconds time,
                        std::chrono::nanoseconds late = 0ns) {
  std::size_t sent = 0;
  for (Instant now = start; now < start + time;) {
    if (const std::size_t most = pacer.allowance(now); most > 0) {
      pacer.spend(most);
      sent += most;
    } else {
      now = pacer.ready_at(now) + late;
    }
  }
  return sent;
}

double wire_rate(std::size_t payload, std::chrono::duration<double> time) {
  const double segments = static_cast<double>(payload) / 1448;
  return segments * 1500 * 8 / time.count();
}

}  // namespace

TEST_CASE("pacer: the burst leaves at once and no more than it") {
  Pacer pacer{BitRate{2'000'000}, Bytes{50'000}};
  pacer.set_shape(kEthernet);
  const Instant start{};
  std::size_t burst = 0;
  while (const std::size_t most = pacer.allowance(start)) {
    pacer.spend(most);
    burst += most;
  }
  CHECK(burst >= 50'000 - 1448);
  CHECK(burst <= 50'000 + 1448);
}

TEST_CASE("pacer: what follows the burst holds the rate in bytes of IP") {
  for (const std::uint64_t rate : {40'000U, 2'000'000U, 100'000'000U}) {
    Pacer pacer{BitRate{rate}, Bytes{0}};
    pacer.set_shape(kEthernet);
    const std::size_t sent = sent_within(pacer, Instant{}, 100s);
    CHECK(wire_rate(sent, 100s) == Approx(static_cast<double>(rate)).epsilon(0.01));
  }
}

TEST_CASE("pacer: a wake-up that is late costs no rate") {
  Pacer pacer{BitRate{10'000'000}, Bytes{0}};
  pacer.set_shape(kEthernet);
  const std::size_t sent = sent_within(pacer, Instant{}, 20s, 1ms);
  CHECK(wire_rate(sent, 20s) == Approx(10e6).epsilon(0.01));
}

TEST_CASE("pacer: after a pause a whole burst may leave again") {
  Pacer pacer{BitRate{1'000'000}, Bytes{10'000}};
  pacer.set_shape(kEthernet);
  sent_within(pacer, Instant{}, 5s);
  const Instant later = Instant{} + 6s;
  std::size_t burst = 0;
  while (const std::size_t most = pacer.allowance(later)) {
    pacer.spend(most);
    burst += most;
  }
  CHECK(burst >= 10'000 - 1448);
  CHECK(burst <= 10'000 + 2 * 1448);
}

TEST_CASE("pacer: it is ready when it said it would be") {
  Pacer pacer{BitRate{40'000}, Bytes{0}};
  pacer.set_shape(kEthernet);
  Instant now{};
  for (int i = 0; i < 100; ++i) {
    while (const std::size_t most = pacer.allowance(now)) pacer.spend(most);
    now = pacer.ready_at(now);
    REQUIRE(pacer.allowance(now) > 0);
  }
}
