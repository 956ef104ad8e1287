// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::lab {

// One direction of an emulated link. Zero means: none, or no limit.
struct DirectionSettings {
  std::chrono::nanoseconds delay{0};
  std::chrono::nanoseconds jitter{0};         // delay varies by +- this much
  std::chrono::nanoseconds jitter_period{0};  // 0: each packet by chance; else a slow sine of this period
  bool reorder = false;                       // jitter may let a packet overtake; otherwise it waits
  std::uint64_t rate = 0;                     // bit/s of IP packets
  std::uint64_t queue = 0;                    // bytes waiting for the rate; what doesn't fit is dropped
  double loss = 0;                            // probability of each packet to be lost, after it took its time
  std::uint64_t seed = 1;                     // same seed, same fate of the n-th packet

  bool operator==(const DirectionSettings&) const = default;
};

// "delay=20000000,jitter=0,..." (nanoseconds), for a command line, and back. Throws std::invalid_argument.
std::string to_text(const DirectionSettings& settings);
DirectionSettings parse_direction(std::string_view text);

// Decides what becomes of the packets of one direction: when each leaves the far end, or that it doesn't.
// Owns the packets meanwhile. Pure: time is an argument, in nanoseconds since whenever, and never goes back.
class LinkQueue {
 public:
  using Time = std::chrono::nanoseconds;
  using Packet = std::vector<std::uint8_t>;
  enum class Fate { queued, dropped, lost };

  explicit LinkQueue(const DirectionSettings& settings);

  Fate enqueue(Time now, Packet packet);
  std::optional<Time> next_due() const;
  std::optional<Packet> pop_due(Time now);
  std::uint64_t backlog(Time now) const;  // bytes that wait for the rate

 private:
  struct Waiting {
    Time due;
    Packet packet;
  };

  Time transmit(Time now, std::size_t size);
  Time propagation(Time sent);
  double chance();  // [0, 1)

  DirectionSettings settings_;
  std::mt19937_64 random_;
  std::deque<Waiting> waiting_;  // by due time
  Time busy_until_{0};
  Time last_due_{0};
};

}  // namespace headrace::lab
