// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "config/settings.hpp"
#include "proxy/fd.hpp"
#include "proxy/syn_packet.hpp"

namespace headrace {

// A SYN that waits in the kernel for a verdict.
struct QueuedSyn {
  std::uint32_t id = 0;             // in the queue
  std::uint32_t mark = 0;           // the packet's
  std::optional<SynPacket> packet;  // nothing: it could not be read
};

enum class SynVerdict : std::uint8_t {
  take,    // it goes on to a listener
  direct,  // it goes on to the server itself
  drop,
};

// The kernel's packet queue in which the packet filter puts SYNs. Owns the queue: while there is none, or
// once it is full, they pass on their own (bypass and fail-open), and what waits in it when it goes is
// dropped by the kernel, so that its client sends it again. The only file that knows libnetfilter_queue. One
// thread.
class SynQueue {
 public:
  // Throws std::runtime_error "attempt: reason": no CAP_NET_ADMIN, a kernel without the queue, a number that
  // another process has.
  SynQueue(std::uint16_t number, const MarkAndMask& marks);
  ~SynQueue();
  SynQueue(const SynQueue&) = delete;
  SynQueue& operator=(const SynQueue&) = delete;

  const Fd& descriptor() const { return descriptor_; }  // readable when SYNs have come
  // Tells a fair share of what has come. False when the queue is broken.
  bool read(const std::function<void(const QueuedSyn&)>& told);
  // One that is gone (another rule set was put in meanwhile) is no error. The kernel carries the packet on
  // before this returns: a listener's SYN-ACK has left then.
  void settle(const QueuedSyn& syn, SynVerdict verdict);
  // From now on SYNs pass on their own; for a queue that is broken.
  void close();

 private:
  struct Handle;

  MarkAndMask marks_;
  std::unique_ptr<Handle> handle_;
  Fd descriptor_;
  std::array<char, 8192> buffer_{};
};

}  // namespace headrace
