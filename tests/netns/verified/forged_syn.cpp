// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/verified/forged_syn.hpp"

#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "bench/lab/handle.hpp"
#include "bench/lab/socket_address.hpp"
#include "policy/address.hpp"

namespace headrace {
namespace {

struct ForgedPacket {
  iphdr ip{};
  tcphdr tcp{};
};
static_assert(sizeof(ForgedPacket) == 40);

in_addr_t in_network_order(const IpAddress& address) {
  in_addr_t raw = 0;
  std::memcpy(&raw, address.octets().data(), sizeof raw);
  return raw;
}

// RFC 9293, 3.1: over the pseudo header and the TCP header. The kernel fills in that of IP.
std::uint16_t checksum(const ForgedPacket& packet) {
  std::array<std::uint16_t, 16> words{};  // addresses, protocol, length, TCP
  std::memcpy(words.data(), &packet.ip.saddr, 8);
  words[4] = htons(IPPROTO_TCP);
  words[5] = htons(sizeof packet.tcp);
  std::memcpy(&words[6], &packet.tcp, sizeof packet.tcp);
  std::uint32_t sum = 0;
  for (const std::uint16_t word : words) sum += word;
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

ForgedPacket forge(const Endpoint& from, const Endpoint& to, std::uint32_t sequence) {
  ForgedPacket packet;
  packet.ip.version = 4;
  packet.ip.ihl = 5;
  packet.ip.ttl = 64;
  packet.ip.protocol = IPPROTO_TCP;
  packet.ip.saddr = in_network_order(from.address);
  packet.ip.daddr = in_network_order(to.address);
  packet.tcp.source = htons(from.port);
  packet.tcp.dest = htons(to.port);
  packet.tcp.seq = htonl(sequence);
  packet.tcp.doff = 5;
  packet.tcp.syn = 1;
  packet.tcp.window = htons(65535);
  packet.tcp.check = checksum(packet);
  return packet;
}

}  // namespace

void send_forged_syn(const lab::Namespace& where, const std::string& from, const std::string& to,
                     std::uint32_t sequence) {
  const ForgedPacket packet = forge(*parse_endpoint(from), *parse_endpoint(to), sequence);
  const lab::SocketAddress destination{to};
  where.run([&] {
    const lab::Handle socket{::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW)};
    if (::sendto(socket.get(), &packet, sizeof packet, 0, destination.get(), destination.size()) < 0)
      throw std::system_error{errno, std::system_category(), "send a SYN"};
  });
}

}  // namespace headrace
