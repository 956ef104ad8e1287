// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

// Reading and patching IP packets in place: big-endian fields, the Internet checksum (RFC 1071, RFC 1624),
// and where the transport header begins. Pure functions on bytes; nothing reads beyond the span it was given.
namespace headrace::lab {

using ByteSpan = std::span<std::uint8_t>;
using ConstByteSpan = std::span<const std::uint8_t>;

constexpr std::uint8_t kProtocolIcmp = 1, kProtocolTcp = 6, kProtocolUdp = 17, kProtocolIcmp6 = 58;

std::uint16_t load16(ConstByteSpan bytes, std::size_t at);
std::uint32_t load32(ConstByteSpan bytes, std::size_t at);
void store16(ByteSpan bytes, std::size_t at, std::uint16_t value);
void store32(ByteSpan bytes, std::size_t at, std::uint32_t value);

// Ones' complement sum of 16-bit words, not yet inverted; an odd last byte counts as a high byte.
std::uint16_t ones_sum(ConstByteSpan bytes, std::uint32_t start = 0);

// The checksum field once bytes that summed up to `before` sum up to `after`.
std::uint16_t patched_checksum(std::uint16_t field, std::uint16_t before, std::uint16_t after);

struct Transport {
  std::uint8_t protocol = 0;
  std::size_t begin = 0;  // of the transport header
  std::size_t end = 0;    // of the payload, as far as the bytes are there
  bool fragment = false;  // the first of several: the checksum covers bytes that are not here
};

// Nothing for what is neither IPv4 nor IPv6, and for fragments but the first.
// `wire_length`: the packet's length by its own header, which a quote or a snapshot doesn't reach.
std::optional<Transport> find_transport(ConstByteSpan packet);
std::size_t wire_length(ConstByteSpan packet);

// Sum of the pseudo header for the transport's checksum.
std::uint16_t pseudo_sum(ConstByteSpan packet, const Transport& transport);

}  // namespace headrace::lab
