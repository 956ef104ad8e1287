// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/syn_packet.hpp"

#include <algorithm>
#include <cstddef>

namespace headrace {
namespace {

using Bytes8 = std::span<const std::uint8_t>;

constexpr std::uint8_t kTcp = 6;
constexpr std::size_t kIpv4Header = 20, kIpv6Header = 40, kTcpHeader = 20;
constexpr std::uint8_t kFin = 0x01, kSyn = 0x02, kReset = 0x04, kAck = 0x10;

std::uint16_t two(Bytes8 at) { return static_cast<std::uint16_t>(at[0] << 8 | at[1]); }

std::uint32_t four(Bytes8 at) { return static_cast<std::uint32_t>(two(at)) << 16 | two(at.subspan(2)); }

IpAddress ipv4(Bytes8 at) { return IpAddress::v4({at[0], at[1], at[2], at[3]}); }

IpAddress ipv6(Bytes8 at) {
  IpAddress::Octets octets{};
  std::copy_n(at.begin(), octets.size(), octets.begin());
  return IpAddress::v6(octets);
}

struct Ends {
  IpAddress from;
  IpAddress to;
  std::size_t header = 0;  // of IP
};

std::optional<Ends> read_ipv4(Bytes8 packet) {
  if (packet.size() < kIpv4Header || packet[9] != kTcp) return std::nullopt;
  const std::size_t header = (packet[0] & 0x0fU) * 4U;
  const bool is_first_fragment = (two(packet.subspan(6)) & 0x1fffU) == 0;
  if (header < kIpv4Header || !is_first_fragment) return std::nullopt;
  return Ends{ipv4(packet.subspan(12)), ipv4(packet.subspan(16)), header};
}

std::optional<Ends> read_ipv6(Bytes8 packet) {
  if (packet.size() < kIpv6Header || packet[6] != kTcp) return std::nullopt;
  return Ends{ipv6(packet.subspan(8)), ipv6(packet.subspan(24)), kIpv6Header};
}

std::optional<Ends> read_ends(Bytes8 packet) {
  if (packet.empty()) return std::nullopt;
  if (packet[0] >> 4 == 4) return read_ipv4(packet);
  if (packet[0] >> 4 == 6) return read_ipv6(packet);
  return std::nullopt;
}

}  // namespace

std::optional<SynPacket> read_syn_packet(std::span<const std::uint8_t> packet) {
  const auto ends = read_ends(packet);
  if (!ends || packet.size() < ends->header + kTcpHeader) return std::nullopt;
  const Bytes8 tcp = packet.subspan(ends->header);
  if ((tcp[13] & (kFin | kSyn | kReset | kAck)) != kSyn) return std::nullopt;
  const Endpoint client{ends->from, two(tcp)};
  const Endpoint server{ends->to, two(tcp.subspan(2))};
  // The data offset bounds the options: what stands behind them is data (fast open).
  const std::size_t end = std::min<std::size_t>(packet.size(), ends->header + (tcp[12] >> 4) * 4U);
  return SynPacket{{{client}, {server}}, four(tcp.subspan(4)), read_syn(packet.first(end))};
}

}  // namespace headrace
