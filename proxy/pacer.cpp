// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/pacer.hpp"

#include <algorithm>
#include <cmath>

namespace headrace {
namespace {

// One step lasts this long at the least, so that a fast pace does not wake the worker for every segment.
constexpr std::chrono::duration<double> kStepTime = std::chrono::milliseconds{2};
// How late a wake-up may be and still find all its tokens; without, every delay of the scheduler would lower
// the rate. Short, since after a pause it adds to the burst.
constexpr std::chrono::duration<double> kLateness = std::chrono::milliseconds{20};

}  // namespace

double Pacer::step() const {
  const double bytes = static_cast<double>(rate_) / 8 * kStepTime.count();
  return std::max(bytes, static_cast<double>(shape_.payload + shape_.headers));
}

double Pacer::on_the_wire(std::size_t payload) const {
  const auto segments = static_cast<double>(payload) / static_cast<double>(shape_.payload);
  return static_cast<double>(payload) + std::ceil(segments) * static_cast<double>(shape_.headers);
}

double Pacer::capacity() const { return std::max(on_the_wire(burst_), step()); }

void Pacer::refill(Instant now) {
  if (tokens_ < 0) {
    tokens_ = capacity();
  } else {
    const double gained =
        std::chrono::duration<double>(now - refilled_).count() * static_cast<double>(rate_) / 8;
    const double slack = static_cast<double>(rate_) / 8 * kLateness.count();
    tokens_ = std::min(tokens_ + gained, std::max(capacity(), step() + slack));
  }
  refilled_ = now;
}

std::size_t Pacer::allowance(Instant now) {
  refill(now);
  const auto segment = static_cast<double>(shape_.payload + shape_.headers);
  // Half a byte of grace: tokens are sums of fractions.
  if (tokens_ + 0.5 < std::min(step(), capacity())) return 0;
  const auto segments = static_cast<std::size_t>((tokens_ + 0.5) / segment);
  return std::max<std::size_t>(segments, 1) * shape_.payload;
}

void Pacer::spend(std::size_t payload) { tokens_ = std::max(tokens_ - on_the_wire(payload), 0.0); }

Instant Pacer::ready_at(Instant now) const {
  const double missing = std::max(step() - tokens_, 0.0);
  const std::chrono::duration<double> wait{missing * 8 / static_cast<double>(rate_)};
  return now + std::chrono::ceil<std::chrono::nanoseconds>(wait);
}

}  // namespace headrace
