// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "bench/lab/handle.hpp"
#include "bench/lab/link_queue.hpp"
#include "bench/lab/sequence_shift.hpp"

namespace headrace::lab {

// A TUN interface by name; the calling thread must be in the namespace where it shall appear.
Handle open_tun(const std::string& device);

// Carries IP packets between two TUN devices as the two queues decide. Owns both descriptors; one thread,
// which run() takes for good (until a signal ends the process). Knows no namespaces.
class LinkRunner {
 public:
  struct Side {
    Handle tun;
    DirectionSettings outgoing;     // of what this side sends
    std::uint32_t sequence_offset;  // of its numbers as the other side sees them
  };

  LinkRunner(Side a, Side b);

  [[noreturn]] void run();

  // SIGUSR1 cuts the link (packets vanish in both directions), SIGUSR2 mends it. For the whole process.
  static void obey_signals();

 private:
  struct Direction {
    int from;
    int to;
    LinkQueue queue;
    DirectionShift shift;
  };

  void take_in(Direction& direction);
  static void give_out(Direction& direction);

  static constexpr std::size_t kLargestPacket = 65536;

  LinkQueue::Packet buffer_ = LinkQueue::Packet(kLargestPacket);
  std::array<Handle, 2> tuns_;
  std::array<Direction, 2> directions_;
};

}  // namespace headrace::lab
