// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "policy/units.hpp"
#include "proxy/loop.hpp"

namespace headrace {

// How a leg's bytes look on the wire: payload of a full segment, and what IP and TCP add to each.
struct SegmentShape {
  std::size_t payload = 1448;
  std::size_t headers = 52;
};

// `pace` and `burst` of one direction: a token bucket in IP bytes. The first `burst` bytes of payload after a
// pause leave at once, what follows at `pace`, in steps of whole segments. A value with the time as argument:
// no clock, no socket.
//
// Not SO_MAX_PACING_RATE: set once, it leaves the socket in kernel pacing for good, and a later burst is
// spread over cwnd/srtt even at rate ~0 (measured on 6.18: 1.4 round trips instead of 1.0). Tokens here leave
// the socket alone; the price is a wake-up a step.
class Pacer {
 public:
  // `burst` of nothing: one step.
  Pacer(BitRate pace, Bytes burst) : rate_{pace.bits_per_second}, burst_{burst.count} {}

  void set_shape(SegmentShape shape) { shape_ = shape; }

  // Payload bytes that may leave now: 0, or at least a step; whole segments.
  std::size_t allowance(Instant now);
  void spend(std::size_t payload);
  // When allowance() will be a step again.
  Instant ready_at(Instant now) const;

 private:
  double capacity() const;
  double step() const;                            // IP bytes
  double on_the_wire(std::size_t payload) const;  // IP bytes
  void refill(Instant now);

  std::uint64_t rate_;   // bit/s
  std::uint64_t burst_;  // payload bytes
  SegmentShape shape_;
  double tokens_ = -1;  // IP bytes; below 0: not started, full
  Instant refilled_;
};

}  // namespace headrace
