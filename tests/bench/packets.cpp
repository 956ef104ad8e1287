// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/packets.hpp"

#include <algorithm>
#include <array>

namespace headrace::lab::test {
namespace {

constexpr std::array<std::uint8_t, 4> kClientAddress4{198, 18, 1, 2}, kServerAddress4{198, 18, 2, 2};

std::array<std::uint8_t, 16> address6(std::uint8_t network) {
  std::array<std::uint8_t, 16> bytes{0x20, 0x01, 0x0d, 0xb8, 0, network};
  bytes[15] = 2;
  return bytes;
}

PacketBytes ip4(std::uint8_t protocol, const PacketBytes& rest, bool back) {
  PacketBytes packet(20);
  packet[0] = 0x45;
  store16(packet, 2, static_cast<std::uint16_t>(20 + rest.size()));
  packet[8] = 64;
  packet[9] = protocol;
  std::copy_n((back ? kServerAddress4 : kClientAddress4).begin(), 4, packet.begin() + 12);
  std::copy_n((back ? kClientAddress4 : kServerAddress4).begin(), 4, packet.begin() + 16);
  store16(packet, 10, static_cast<std::uint16_t>(~ones_sum(packet)));
  packet.insert(packet.end(), rest.begin(), rest.end());
  return packet;
}

PacketBytes ip6(std::uint8_t protocol, const PacketBytes& rest, bool back) {
  PacketBytes packet(40);
  packet[0] = 0x60;
  store16(packet, 4, static_cast<std::uint16_t>(rest.size()));
  packet[6] = protocol;
  packet[7] = 64;
  std::copy_n(address6(back ? 2 : 1).begin(), 16, packet.begin() + 8);
  std::copy_n(address6(back ? 1 : 2).begin(), 16, packet.begin() + 24);
  packet.insert(packet.end(), rest.begin(), rest.end());
  return packet;
}

PacketBytes tcp_header_and_payload(const Segment& segment, bool back) {
  PacketBytes tcp(20);
  store16(tcp, 0, back ? 1521 : 40000);
  store16(tcp, 2, back ? 40000 : 1521);
  store32(tcp, 4, segment.seq);
  store32(tcp, 8, segment.ack);
  tcp[12] = static_cast<std::uint8_t>((20 + segment.options.size()) / 4 << 4);
  tcp[13] = segment.flags;
  store16(tcp, 14, 501);
  tcp.insert(tcp.end(), segment.options.begin(), segment.options.end());
  tcp.insert(tcp.end(), segment.payload.begin(), segment.payload.end());
  return tcp;
}

std::uint16_t right_sum(const PacketBytes& packet, const Transport& transport) {
  const bool pseudo = transport.protocol != kProtocolIcmp;
  return ones_sum(ConstByteSpan(packet).subspan(transport.begin),
                  pseudo ? pseudo_sum(packet, transport) : std::uint16_t{0});
}

PacketBytes with_checksum(PacketBytes packet) {
  const auto transport = find_transport(packet);
  const std::size_t at = transport->begin + (transport->protocol == kProtocolTcp ? 16 : 2);
  store16(packet, at, 0);
  store16(packet, at, static_cast<std::uint16_t>(~right_sum(packet, *transport)));
  return packet;
}

PacketBytes icmp(std::uint8_t type, std::uint8_t code, const PacketBytes& quoted, std::size_t quote_size) {
  PacketBytes message{type, code, 0, 0, 0, 0, 0x05, 0x14};
  const auto size = static_cast<PacketBytes::difference_type>(std::min(quote_size, quoted.size()));
  message.insert(message.end(), quoted.begin(), quoted.begin() + size);
  return message;
}

}  // namespace

PacketBytes tcp4(const Segment& segment, bool back) {
  return with_checksum(ip4(kProtocolTcp, tcp_header_and_payload(segment, back), back));
}

PacketBytes tcp6(const Segment& segment, bool back) {
  return with_checksum(ip6(kProtocolTcp, tcp_header_and_payload(segment, back), back));
}

PacketBytes icmp4_about(const PacketBytes& quoted, std::size_t quote_size) {
  const bool from_server = quoted[14] == kServerAddress4[2];
  return with_checksum(ip4(kProtocolIcmp, icmp(3, 4, quoted, quote_size), !from_server));
}

PacketBytes icmp6_about(const PacketBytes& quoted, std::size_t quote_size) {
  const bool from_server = quoted[13] == 2;
  return with_checksum(ip6(kProtocolIcmp6, icmp(2, 0, quoted, quote_size), !from_server));
}

bool checksum_is_right(const PacketBytes& packet) {
  const auto transport = find_transport(packet);
  return transport && right_sum(packet, *transport) == 0xffff;
}

}  // namespace headrace::lab::test
