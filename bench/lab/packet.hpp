// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/lab/wire.hpp"

namespace headrace::lab {

// One IP packet as a capture saw it, TCP and ICMP taken apart. A plain value. Sequence numbers are absolute.
struct Packet {
  std::chrono::nanoseconds time{0};  // since the epoch, by the kernel
  bool outgoing = false;             // sent by the interface's own namespace, or forwarded out by it
  std::string device;                // interface name

  std::string from, to;  // addresses, without ports
  std::uint16_t from_port = 0, to_port = 0;
  std::uint8_t protocol = 0;  // 6 TCP, 17 UDP, 1 ICMP, 58 ICMPv6
  std::uint8_t dscp = 0, ecn = 0;
  std::size_t size = 0;     // of the IP packet
  std::size_t payload = 0;  // TCP and UDP: bytes of data

  bool syn = false, ack = false, fin = false, rst = false, psh = false, urg = false;
  std::uint32_t seq = 0, acknowledges = 0;
  std::uint16_t window = 0;  // as on the wire, not scaled
  std::uint16_t urgent = 0;

  std::optional<std::uint16_t> mss;  // options of this very packet
  std::optional<std::uint8_t> window_scale;
  bool sack_permitted = false;
  std::optional<std::pair<std::uint32_t, std::uint32_t>> timestamps;  // value, echo
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sack;          // blocks

  std::uint8_t icmp_type = 0, icmp_code = 0;
  std::uint32_t icmp_mtu = 0;  // of "fragmentation needed" and "packet too big"
};

// Nothing when it is not a whole IPv4 or IPv6 header, or a fragment but the first.
std::optional<Packet> parse_packet(ConstByteSpan bytes);

// One line, as tcpdump would put it, for the message of a failed test.
std::ostream& operator<<(std::ostream& out, const Packet& packet);

}  // namespace headrace::lab
