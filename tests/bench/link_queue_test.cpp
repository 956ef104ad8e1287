// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/link_queue.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tests/test.hpp"

namespace headrace::lab {
namespace {

using namespace std::chrono_literals;
using Fate = LinkQueue::Fate;

LinkQueue::Packet packet(std::size_t size, std::uint8_t mark = 0) { return LinkQueue::Packet(size, mark); }

DirectionSettings with_delay(std::chrono::nanoseconds delay) {
  DirectionSettings settings;
  settings.delay = delay;
  return settings;
}

}  // namespace

TEST_CASE("queue: a packet is due one delay after it came, and not before") {
  LinkQueue queue(with_delay(20ms));
  CHECK(!queue.next_due());
  REQUIRE(queue.enqueue(5ms, packet(100)) == Fate::queued);
  CHECK(queue.next_due() == 25ms);
  CHECK(!queue.pop_due(25ms - 1ns));
  CHECK(queue.pop_due(25ms)->size() == 100);
  CHECK(!queue.pop_due(1h));
}

TEST_CASE("queue: packets take the rate one after the other, then the delay in parallel") {
  DirectionSettings settings = with_delay(10ms);
  settings.rate = 1'000'000;
  LinkQueue queue(settings);
  queue.enqueue(0ms, packet(1250));
  queue.enqueue(0ms, packet(1250));
  CHECK(queue.next_due() == 20ms);
  CHECK(queue.pop_due(20ms));
  CHECK(queue.next_due() == 30ms);
  CHECK(queue.backlog(0ms) == 2500);
  CHECK(queue.backlog(15ms) == 625);
}

TEST_CASE("queue: the rate holds within a thousandth over many packets of odd sizes") {
  DirectionSettings settings;
  settings.rate = 1'536'000;
  LinkQueue queue(settings);
  std::size_t bytes = 0;
  for (std::size_t n = 0; n < 10'000; ++n) {
    bytes += 40 + n % 1461;
    queue.enqueue(0ms, packet(40 + n % 1461));
  }
  std::chrono::nanoseconds last{0};
  while (const auto due = queue.next_due()) {
    last = *due;
    queue.pop_due(*due);
  }
  const double measured = static_cast<double>(bytes) * 8 / std::chrono::duration<double>(last).count();
  CHECK(measured == Approx(1'536'000).epsilon(0.001));
}

TEST_CASE("queue: what does not fit is dropped at the tail") {
  DirectionSettings settings;
  settings.rate = 1'000'000;
  settings.queue = 3000;
  LinkQueue queue(settings);
  CHECK(queue.enqueue(0ms, packet(1500, 1)) == Fate::queued);
  CHECK(queue.enqueue(0ms, packet(1500, 2)) == Fate::queued);
  CHECK(queue.enqueue(0ms, packet(1500, 3)) == Fate::dropped);
  CHECK(queue.enqueue(12ms, packet(1500, 4)) == Fate::queued);
  CHECK(queue.pop_due(1s)->front() == 1);
  CHECK(queue.pop_due(1s)->front() == 2);
  CHECK(queue.pop_due(1s)->front() == 4);
}

TEST_CASE("queue: jitter varies the delay within its bounds and never reorders unless asked") {
  DirectionSettings settings = with_delay(100ms);
  settings.jitter = 50ms;
  LinkQueue queue(settings);
  for (int n = 0; n < 1000; ++n) queue.enqueue(n * 1ms, packet(100, static_cast<std::uint8_t>(n)));
  std::chrono::nanoseconds before{0};
  for (int n = 0; n < 1000; ++n) {
    const auto due = queue.next_due();
    REQUIRE(due);
    CHECK(*due >= before);
    CHECK(*due - n * 1ms >= 50ms);
    CHECK(*due - n * 1ms <= 150ms);
    CHECK(queue.pop_due(*due)->front() == static_cast<std::uint8_t>(n));
    before = *due;
  }
}

TEST_CASE("queue: jitter reorders when asked") {
  DirectionSettings settings = with_delay(100ms);
  settings.jitter = 50ms;
  settings.reorder = true;
  LinkQueue queue(settings);
  for (std::uint8_t n = 0; n < 100; ++n) queue.enqueue(n * 1ms, packet(100, n));
  int overtaken = 0;
  std::uint8_t before = 0;
  while (const auto got = queue.pop_due(1s)) {
    overtaken += got->front() < before ? 1 : 0;
    before = got->front();
  }
  CHECK(overtaken > 10);
}

TEST_CASE("queue: slow jitter follows its period") {
  DirectionSettings settings = with_delay(350ms);
  settings.jitter = 100ms;
  settings.jitter_period = 8s;
  const auto delay_at = [&](std::chrono::nanoseconds at) {
    LinkQueue queue(settings);
    queue.enqueue(at, packet(100));
    return std::chrono::duration<double, std::milli>(*queue.next_due() - at).count();
  };
  CHECK(delay_at(0s) == Approx(350));
  CHECK(delay_at(2s) == Approx(450));
  CHECK(delay_at(6s) == Approx(250));
  CHECK(delay_at(10s) == Approx(450));
}

TEST_CASE("queue: loss is within four deviations of its probability and repeats with the seed") {
  DirectionSettings settings;
  settings.loss = 0.005;
  settings.seed = 42;
  constexpr int kPackets = 200'000;
  const auto fates = [&] {
    LinkQueue queue(settings);
    std::vector<bool> lost;
    for (int n = 0; n < kPackets; ++n) {
      lost.push_back(queue.enqueue(0ms, packet(1)) == Fate::lost);
      queue.pop_due(0ms);
    }
    return lost;
  };
  const std::vector<bool> first = fates();
  const auto count = std::count(first.begin(), first.end(), true);
  const double deviation = std::sqrt(kPackets * settings.loss * (1 - settings.loss));
  CHECK(static_cast<double>(count) == Approx(kPackets * settings.loss).margin(4 * deviation));
  CHECK(fates() == first);
  settings.seed = 43;
  CHECK(fates() != first);
}

TEST_CASE("queue: settings survive a command line") {
  DirectionSettings settings{20ms, 3ms, 8s, true, 1'536'000, 32'768, 0.005, 77};
  CHECK(parse_direction(to_text(settings)) == settings);
  CHECK(parse_direction("") == DirectionSettings{});
  CHECK_THROWS_AS(parse_direction("speed=3"), std::invalid_argument);
  CHECK_THROWS_AS(parse_direction("rate"), std::invalid_argument);
}

}  // namespace headrace::lab
