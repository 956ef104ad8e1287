// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/timeline.hpp"

#include "tests/test.hpp"

namespace headrace::lab {
namespace {

// 1,000 bytes every `gap` seconds from `first` on.
Timeline steady(int count, double first, double gap) {
  Timeline timeline;
  for (int i = 0; i < count; ++i)
    timeline.push_back({first + i * gap, 1000 * (static_cast<std::uint64_t>(i) + 1)});
  return timeline;
}

}  // namespace

TEST_CASE("timeline: goodput counts from established to the last byte") {
  CHECK(goodput({{0.5, 1000}, {2, 4000}}) == Approx(16'000));
  CHECK(goodput({}) == 0);
}

TEST_CASE("timeline: a transfer that is fast from its first byte on has its first window at once") {
  const auto found = first_window(steady(50, 1.0, 0.1), 1.0, 2, 80'000);
  REQUIRE(found);
  CHECK(*found == Approx(0));
}

TEST_CASE("timeline: a window begins no earlier than where enough follows") {
  Timeline timeline = steady(5, 1.0, 1.0);  // slow until 5 s
  for (const Arrival& one : steady(50, 6.0, 0.1)) timeline.push_back({one.at, one.bytes + 5000});
  const auto found = first_window(timeline, 1.0, 2, 80'000);
  REQUIRE(found);
  CHECK(*found == Approx(5.0).margin(0.11));
}

TEST_CASE("timeline: a transfer that is never fast has no such window") {
  CHECK(!first_window(steady(50, 1.0, 0.1), 1.0, 2, 160'000));
}

TEST_CASE("timeline: a window that the transfer does not fill is none") {
  CHECK(!first_window(steady(10, 0, 0.1), 0, 2, 1));
}

TEST_CASE("timeline: the curve of a steady rate is flat at it") {
  for (const auto& [at, rate] : rate_over_time(steady(40, 0, 0.1), 1)) {
    CAPTURE(at);
    CHECK(rate == Approx(80'000).epsilon(0.11));
  }
}

}  // namespace headrace::lab
