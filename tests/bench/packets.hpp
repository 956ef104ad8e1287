// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "bench/lab/wire.hpp"

// Packets made by hand for the tests of what takes packets apart. Checksums are right.
namespace headrace::lab::test {

using PacketBytes = std::vector<std::uint8_t>;

struct Segment {
  std::uint32_t seq = 0;
  std::uint32_t ack = 0;
  std::uint8_t flags = 0x10;
  PacketBytes options;  // a multiple of four bytes
  PacketBytes payload;
};

// Client to server, or back.
PacketBytes tcp4(const Segment& segment, bool back = false);
PacketBytes tcp6(const Segment& segment, bool back = false);

// "Fragmentation needed, MTU 1300" and "packet too big, MTU 1300" to the sender of `quoted`, of which as much
// is quoted as `quote_size` says.
PacketBytes icmp4_about(const PacketBytes& quoted, std::size_t quote_size);
PacketBytes icmp6_about(const PacketBytes& quoted, std::size_t quote_size);

// Whether the transport's checksum is right for the whole packet.
bool checksum_is_right(const PacketBytes& packet);

}  // namespace headrace::lab::test
