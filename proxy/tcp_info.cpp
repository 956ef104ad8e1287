// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/tcp_info.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace headrace {
namespace {

constexpr int kClosed = 7;  // TCP_CLOSE; the header that names it, netinet/tcp.h, clashes with linux/tcp.h

}  // namespace

TcpInfo tcp_info(const Fd& socket) {
  ::tcp_info raw{};
  socklen_t length = sizeof raw;
  if (::getsockopt(socket.get(), IPPROTO_TCP, TCP_INFO, &raw, &length) != 0) return {};
  return {.rtt = std::chrono::microseconds{raw.tcpi_rtt},
          .rtt_variation = std::chrono::microseconds{raw.tcpi_rttvar},
          .min_rtt = std::chrono::microseconds{raw.tcpi_min_rtt == UINT32_MAX ? 0 : raw.tcpi_min_rtt},
          .retransmits = raw.tcpi_total_retrans,
          .congestion_window = raw.tcpi_snd_cwnd,
          .send_mss = Bytes{raw.tcpi_snd_mss},
          .receive_mss = Bytes{raw.tcpi_rcv_mss},
          .timestamps = (raw.tcpi_options & TCPI_OPT_TIMESTAMPS) != 0,
          .closed = raw.tcpi_state == kClosed};
}

}  // namespace headrace
