// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>

#include "bench/lab/attachment.hpp"
#include "bench/lab/link_queue.hpp"
#include "bench/lab/process.hpp"

namespace headrace::lab {

struct LinkSettings {
  DirectionSettings a_to_b;
  DirectionSettings b_to_a;
  int mtu = 1500;
  bool translate_sequence_numbers = true;

  // Half the round trip each way; rate in bit/s (0: no limit), queue in bytes (0: no limit), both ways.
  static LinkSettings round_trip(std::chrono::nanoseconds time, std::uint64_t rate = 0,
                                 std::uint64_t queue = 0);
};

// A link between two namespaces with delay, jitter, rate, queue and loss, over two TUN devices and a program
// of ours (this kernel has no netem). By default it also translates sequence numbers, so that the ends look
// like two hosts; a link without any delay is the way to have just that. IPv4 and IPv6. Gone with the object.
class EmulatedLink {
 public:
  EmulatedLink(const Attachment& a, const Attachment& b, const LinkSettings& settings,
               bool may_outlive_us = false);

  // Everything in both directions vanishes / arrives again. The interfaces stay up. Takes effect when the
  // link's program gets the signal: let what you send next follow an event, or send it twice.
  void cut() const;
  void mend() const;

  void release() { runner_.release(); }  // the destructor then leaves it working
  pid_t pid() const { return runner_.pid(); }

 private:
  Process runner_;
};

}  // namespace headrace::lab
