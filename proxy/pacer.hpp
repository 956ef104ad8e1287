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
// Not SO_MAX_PACING_RATE. Measured on 6.18 with cubic, a round trip of 40 ms, a link of 100 Mbit/s, an
// initial window of 60 and no restart after idle, at a load of 7: 20 bursts of 50,000 bytes 0.3 s apart
// (round trips of the median, the link's own time taken off), then 5 MB, or 1 MB at 2mbit (Mbit/s of IP).
//
//                                                  pace 20mbit      pace 2mbit
//   unpaced                                        1.01 | 90        1.01 | 68
//   SO_MAX_PACING_RATE, set once                   1.38 | 20.7      5.69 | 2.07
//   the same, lifted before each burst and set
//   again behind it                                1.38 | 20.7      5.69 | 2.07
//   the same, lifted for good                      1.14 | 90        1.14 | 69
//   tokens (this)                                  1.01 | 20.0      1.01 | 2.00
//
// It knows no burst: bytes leave at the rate that holds when they leave, not when they were written. It
// counts payload, thus 3.6 % too many. Once set, the socket stays in kernel pacing, which spreads later
// bursts over cwnd/srtt even without a limit. Tokens here leave the socket alone; the price is a wake-up a
// step.
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
