// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/wire.hpp"

#include <algorithm>

namespace headrace::lab {
namespace {

constexpr std::size_t kIpv4Header = 20, kIpv6Header = 40;

std::optional<Transport> find_ipv4(ConstByteSpan packet) {
  const std::size_t header = std::size_t{packet[0] & 0x0fU} * 4;
  if (header < kIpv4Header || packet.size() < header) return std::nullopt;
  const std::uint16_t fragment = load16(packet, 6);
  if ((fragment & 0x1fff) != 0) return std::nullopt;
  return Transport{packet[9], header, std::clamp(wire_length(packet), header, packet.size()),
                   (fragment & 0x2000) != 0};
}

// Hop-by-hop, routing and destination options are stepped over; a fragment header is looked into.
std::optional<Transport> find_ipv6(ConstByteSpan packet) {
  Transport found{packet[6], kIpv6Header, packet.size(), false};
  while (found.protocol == 0 || found.protocol == 43 || found.protocol == 44 || found.protocol == 60) {
    if (packet.size() < found.begin + 8) return std::nullopt;
    const bool is_fragment = found.protocol == 44;
    if (is_fragment && (load16(packet, found.begin + 2) & 0xfff8) != 0) return std::nullopt;
    found.fragment |= is_fragment && (packet[found.begin + 3] & 1) != 0;
    found.protocol = packet[found.begin];
    found.begin += is_fragment ? 8 : (std::size_t{packet[found.begin + 1]} + 1) * 8;
    if (found.begin > packet.size()) return std::nullopt;
  }
  found.end = std::clamp(wire_length(packet), found.begin, packet.size());
  return found;
}

}  // namespace

std::uint16_t load16(ConstByteSpan bytes, std::size_t at) {
  return static_cast<std::uint16_t>((bytes[at] << 8) | bytes[at + 1]);
}

std::uint32_t load32(ConstByteSpan bytes, std::size_t at) {
  return (std::uint32_t{load16(bytes, at)} << 16) | load16(bytes, at + 2);
}

void store16(ByteSpan bytes, std::size_t at, std::uint16_t value) {
  bytes[at] = static_cast<std::uint8_t>(value >> 8);
  bytes[at + 1] = static_cast<std::uint8_t>(value & 0xff);
}

void store32(ByteSpan bytes, std::size_t at, std::uint32_t value) {
  store16(bytes, at, static_cast<std::uint16_t>(value >> 16));
  store16(bytes, at + 2, static_cast<std::uint16_t>(value & 0xffff));
}

std::uint16_t ones_sum(ConstByteSpan bytes, std::uint32_t start) {
  std::uint64_t sum = start;
  std::size_t at = 0;
  for (; at + 1 < bytes.size(); at += 2) sum += load16(bytes, at);
  if (at < bytes.size()) sum += std::uint64_t{bytes[at]} << 8;
  while ((sum >> 16) != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

std::uint16_t patched_checksum(std::uint16_t field, std::uint16_t before, std::uint16_t after) {
  std::uint32_t sum = (~std::uint32_t{field} & 0xffff) + (~std::uint32_t{before} & 0xffff) + after;
  while ((sum >> 16) != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum & 0xffff);
}

std::size_t wire_length(ConstByteSpan packet) {
  if (packet.size() >= kIpv4Header && packet[0] >> 4 == 4) return load16(packet, 2);
  if (packet.size() >= kIpv6Header && packet[0] >> 4 == 6) return kIpv6Header + load16(packet, 4);
  return packet.size();
}

std::optional<Transport> find_transport(ConstByteSpan packet) {
  if (packet.size() >= kIpv4Header && packet[0] >> 4 == 4) return find_ipv4(packet);
  if (packet.size() >= kIpv6Header && packet[0] >> 4 == 6) return find_ipv6(packet);
  return std::nullopt;
}

std::uint16_t pseudo_sum(ConstByteSpan packet, const Transport& transport) {
  const bool six = packet[0] >> 4 == 6;
  const ConstByteSpan addresses = six ? packet.subspan(8, 32) : packet.subspan(12, 8);
  const auto length = static_cast<std::uint32_t>(transport.end - transport.begin);
  return ones_sum(addresses, std::uint32_t{transport.protocol} + (length & 0xffff) + (length >> 16));
}

}  // namespace headrace::lab
