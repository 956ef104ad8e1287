// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include "bench/lab/socket.hpp"

namespace headrace::lab {

// The old kernel's burst moderation: after any ACK, a sender may have at most what is in flight and a burst
// of six segments outstanding (story 1). Here as arithmetic: how many bytes may be outstanding, given what
// was acknowledged. An ACK is counted for every second segment, as receivers send them, since a sender that
// looks now and then sees several at once. Pure: no socket, no clock.
class BurstModeration {
 public:
  static constexpr std::size_t kBurst = 6;  // segments

  explicit BurstModeration(std::size_t segment) : segment_(segment) {}

  // An idle connection starts over with one burst.
  void start() { allowed_ = kBurst * segment_; }
  // `acknowledged` more bytes; `in_flight` still are.
  void on_acknowledged(std::size_t acknowledged, std::size_t in_flight);
  std::size_t may_send(std::size_t in_flight) const {
    return allowed_ > in_flight ? allowed_ - in_flight : 0;
  }

 private:
  std::size_t segment_;
  std::size_t allowed_ = 0;
};

// Sends all of `bytes` as that kernel would have, seeing acknowledgements by SIOCOUTQ. Returns how it ended.
// Where the peer acknowledges at once (a LAN, or headrace beside the server) this costs well under a
// millisecond.
End send_moderated(const Socket& socket, std::string_view bytes, std::chrono::nanoseconds timeout);

}  // namespace headrace::lab
