// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/packet.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <ostream>

namespace headrace::lab {
namespace {

std::string address(int family, ConstByteSpan bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(family, bytes.data(), text.data(), text.size());
  return text.data();
}

void parse_addresses(Packet& packet, ConstByteSpan bytes) {
  const bool six = bytes[0] >> 4 == 6;
  const std::uint8_t traffic_class =
      six ? static_cast<std::uint8_t>((load16(bytes, 0) >> 4) & 0xff) : bytes[1];
  packet.dscp = static_cast<std::uint8_t>(traffic_class >> 2);
  packet.ecn = traffic_class & 3;
  packet.from = six ? address(AF_INET6, bytes.subspan(8, 16)) : address(AF_INET, bytes.subspan(12, 4));
  packet.to = six ? address(AF_INET6, bytes.subspan(24, 16)) : address(AF_INET, bytes.subspan(16, 4));
}

void parse_option(Packet& packet, ConstByteSpan option) {
  const std::uint8_t kind = option[0];
  const std::size_t length = option.size();
  if (kind == 2 && length == 4) packet.mss = load16(option, 2);
  if (kind == 3 && length == 3) packet.window_scale = option[2];
  if (kind == 4) packet.sack_permitted = true;
  if (kind == 8 && length == 10) packet.timestamps = {load32(option, 2), load32(option, 6)};
  for (std::size_t at = 2; kind == 5 && at + 8 <= length; at += 8) {
    packet.sack.emplace_back(load32(option, at), load32(option, at + 4));
  }
}

void parse_options(Packet& packet, ConstByteSpan options) {
  for (std::size_t at = 0; at < options.size() && options[at] != 0;) {
    if (options[at] == 1) {
      ++at;
      continue;
    }
    if (at + 1 >= options.size()) return;
    const std::size_t length = options[at + 1];
    if (length < 2 || at + length > options.size()) return;
    parse_option(packet, options.subspan(at, length));
    at += length;
  }
}

void parse_tcp(Packet& packet, ConstByteSpan tcp, std::size_t length) {
  if (tcp.size() < 20) return;
  packet.seq = load32(tcp, 4);
  packet.acknowledges = load32(tcp, 8);
  const std::uint8_t flags = tcp[13];
  packet.fin = (flags & 0x01) != 0;
  packet.syn = (flags & 0x02) != 0;
  packet.rst = (flags & 0x04) != 0;
  packet.psh = (flags & 0x08) != 0;
  packet.ack = (flags & 0x10) != 0;
  packet.urg = (flags & 0x20) != 0;
  packet.window = load16(tcp, 14);
  packet.urgent = load16(tcp, 18);
  const std::size_t header = std::size_t{tcp[12]} / 16 * 4;
  packet.payload = length - std::min(length, header);
  if (header > 20) parse_options(packet, tcp.subspan(20, std::min(header, tcp.size()) - 20));
}

void parse_icmp(Packet& packet, ConstByteSpan icmp) {
  if (icmp.size() < 8) return;
  packet.icmp_type = icmp[0];
  packet.icmp_code = icmp[1];
  if (packet.protocol == kProtocolIcmp && icmp[0] == 3 && icmp[1] == 4) packet.icmp_mtu = load16(icmp, 6);
  if (packet.protocol == kProtocolIcmp6 && icmp[0] == 2) packet.icmp_mtu = load32(icmp, 4);
}

}  // namespace

std::optional<Packet> parse_packet(ConstByteSpan bytes) {
  const auto transport = find_transport(bytes);
  if (!transport) return std::nullopt;
  Packet packet;
  packet.size = std::max(wire_length(bytes), transport->begin);
  packet.protocol = transport->protocol;
  parse_addresses(packet, bytes);
  const ConstByteSpan rest = bytes.subspan(transport->begin, transport->end - transport->begin);
  const std::size_t length = packet.size - transport->begin;
  const bool ports = packet.protocol == kProtocolTcp || packet.protocol == kProtocolUdp;
  if (ports && rest.size() >= 8) {
    packet.from_port = load16(rest, 0);
    packet.to_port = load16(rest, 2);
    packet.payload = length - std::min<std::size_t>(length, 8);
  }
  if (packet.protocol == kProtocolTcp) parse_tcp(packet, rest, length);
  if (packet.protocol == kProtocolIcmp || packet.protocol == kProtocolIcmp6) parse_icmp(packet, rest);
  return packet;
}

std::ostream& operator<<(std::ostream& out, const Packet& packet) {
  out << packet.device << (packet.outgoing ? " out " : " in ") << packet.from << '.' << packet.from_port
      << " > " << packet.to << '.' << packet.to_port << " proto " << int{packet.protocol};
  if (packet.protocol == kProtocolTcp) {
    out << " [" << (packet.syn ? "S" : "") << (packet.fin ? "F" : "") << (packet.rst ? "R" : "")
        << (packet.psh ? "P" : "") << (packet.urg ? "U" : "") << (packet.ack ? "." : "") << "] seq "
        << packet.seq << " ack " << packet.acknowledges << " win " << packet.window;
    if (packet.mss) out << " mss " << *packet.mss;
    if (packet.window_scale) out << " wscale " << int{*packet.window_scale};
  }
  if (packet.protocol == kProtocolIcmp || packet.protocol == kProtocolIcmp6) {
    out << " type " << int{packet.icmp_type} << " code " << int{packet.icmp_code};
  }
  return out << " payload " << packet.payload;
}

}  // namespace headrace::lab
