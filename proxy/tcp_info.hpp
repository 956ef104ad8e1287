// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>

#include "policy/units.hpp"
#include "proxy/fd.hpp"

namespace headrace {

// What the kernel knows of one leg (TCP_INFO, linux/tcp.h), in chrono and bytes. Zero where the kernel is
// too old to say, or the socket is gone.
struct TcpInfo {
  std::chrono::microseconds rtt{0};  // smoothed
  std::chrono::microseconds rtt_variation{0};
  std::chrono::microseconds min_rtt{0};
  std::uint32_t retransmits = 0;        // segments, over the connection's life
  std::uint32_t congestion_window = 0;  // segments
  Bytes send_mss;
  Bytes receive_mss;
  bool timestamps = false;  // 12 bytes a segment
  bool closed = false;      // both FINs have passed and are acknowledged, or a reset has come
};

TcpInfo tcp_info(const Fd& socket);

}  // namespace headrace
