// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/sequence_shift.hpp"

#include <algorithm>

namespace headrace::lab {
namespace {

constexpr std::size_t kTcpHeader = 20, kChecksumAt = 16, kFlagsAt = 13;
constexpr std::uint8_t kAckFlag = 0x10, kOptionEnd = 0, kOptionNop = 1, kOptionSack = 5;

void add(ByteSpan bytes, std::size_t at, std::uint32_t amount) {
  store32(bytes, at, load32(bytes, at) + amount);
}

void shift_sack_blocks(ByteSpan tcp, std::uint32_t amount) {
  const std::size_t end = std::min(tcp.size(), std::size_t{tcp[12]} / 16 * 4);
  for (std::size_t at = kTcpHeader; at + 1 < end && tcp[at] != kOptionEnd;) {
    if (tcp[at] == kOptionNop) {
      ++at;
      continue;
    }
    const std::size_t length = tcp[at + 1];
    if (length < 2 || at + length > end) return;
    for (std::size_t edge = at + 2; tcp[at] == kOptionSack && edge + 4 <= at + length; edge += 4) {
      add(tcp, edge, amount);
    }
    at += length;
  }
}

// As much of a TCP header as there is: a quote may stop after eight bytes.
void shift_header(ByteSpan tcp, const SequenceShift& shift) {
  if (tcp.size() >= 8) add(tcp, 4, shift.sent);
  if (tcp.size() <= kFlagsAt) {
    if (tcp.size() >= 12) add(tcp, 8, shift.acknowledged);
    return;
  }
  if ((tcp[kFlagsAt] & kAckFlag) == 0) return;
  add(tcp, 8, shift.acknowledged);
  shift_sack_blocks(tcp, shift.acknowledged);
}

// For headers whose checksum covers bytes that are not here.
void shift_patching(ByteSpan tcp, const SequenceShift& shift) {
  const std::uint16_t before = ones_sum(tcp);
  shift_header(tcp, shift);
  if (tcp.size() < kChecksumAt + 2) return;
  store16(tcp, kChecksumAt, patched_checksum(load16(tcp, kChecksumAt), before, ones_sum(tcp)));
}

void translate_tcp(ByteSpan packet, const Transport& transport, const SequenceShift& shift) {
  const ByteSpan tcp = packet.subspan(transport.begin, transport.end - transport.begin);
  if (transport.fragment || tcp.size() < kTcpHeader) return shift_patching(tcp, shift);
  shift_header(tcp, shift);
  store16(tcp, kChecksumAt, 0);
  store16(tcp, kChecksumAt, static_cast<std::uint16_t>(~ones_sum(tcp, pseudo_sum(packet, transport))));
}

bool quotes_a_packet(const Transport& transport, std::uint8_t type) {
  if (transport.protocol == kProtocolIcmp6) return type >= 1 && type <= 4;
  return transport.protocol == kProtocolIcmp &&
         (type == 3 || type == 4 || type == 5 || type == 11 || type == 12);
}

void translate_quote(ByteSpan packet, const Transport& transport, const SequenceShift& shift) {
  constexpr std::size_t kIcmpHeader = 8;
  const ByteSpan icmp = packet.subspan(transport.begin, transport.end - transport.begin);
  if (transport.fragment || icmp.size() < kIcmpHeader || !quotes_a_packet(transport, icmp[0])) return;
  const ByteSpan quote = icmp.subspan(kIcmpHeader);
  const auto quoted = find_transport(quote);
  if (!quoted || quoted->protocol != kProtocolTcp) return;
  shift_patching(quote.subspan(quoted->begin, quoted->end - quoted->begin), shift);
  store16(icmp, 2, 0);
  const std::uint16_t start =
      transport.protocol == kProtocolIcmp6 ? pseudo_sum(packet, transport) : std::uint16_t{0};
  store16(icmp, 2, static_cast<std::uint16_t>(~ones_sum(icmp, start)));
}

}  // namespace

DirectionShift shift_for(std::uint32_t sender, std::uint32_t receiver) {
  return {{sender, -receiver}, {-receiver, sender}};
}

void translate(ByteSpan packet, const DirectionShift& shift) {
  const auto transport = find_transport(packet);
  if (!transport) return;
  if (transport->protocol == kProtocolTcp) {
    translate_tcp(packet, *transport, shift.own);
  } else {
    translate_quote(packet, *transport, shift.quoted);
  }
}

}  // namespace headrace::lab
