// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/sequence_shift.hpp"

#include "bench/lab/packet.hpp"
#include "tests/bench/packets.hpp"
#include "tests/test.hpp"

namespace headrace::lab {
namespace {

using test::PacketBytes;

constexpr std::uint32_t kClientOffset = 0x80000001, kServerOffset = 0xfffffff0;
const DirectionShift kToServer = shift_for(kClientOffset, kServerOffset);
const DirectionShift kToClient = shift_for(kServerOffset, kClientOffset);
const PacketBytes kPayload{'o', 'd', 'd'};
const PacketBytes kTwoSackBlocks{1,    1, 5,    18,   0,    0,    0x10, 0, 0, 0,
                                 0x20, 0, 0xff, 0xff, 0xff, 0xff, 0,    0, 0, 9};

Packet parsed(const PacketBytes& bytes) {
  const auto packet = parse_packet(bytes);
  REQUIRE(packet);
  return *packet;
}

// What an ICMP error quotes, read as a packet of its own.
Packet quoted(const PacketBytes& error, std::size_t header) {
  return parsed(PacketBytes(error.begin() + static_cast<std::ptrdiff_t>(header) + 8, error.end()));
}

}  // namespace

TEST_CASE("shift: sequence and acknowledgement move by each host's own offset") {
  for (const auto& make : {test::tcp4, test::tcp6}) {
    PacketBytes bytes = make({1000, 2000, 0x18, {}, kPayload}, false);
    translate(bytes, kToServer);
    CHECK(parsed(bytes).seq == 1000 + kClientOffset);
    CHECK(parsed(bytes).acknowledges == 2000 - kServerOffset);
    CHECK(test::checksum_is_right(bytes));
  }
}

TEST_CASE("shift: numbers wrap round") {
  PacketBytes bytes = test::tcp4({0xffffffff, 0, 0x10, {}, {}});
  translate(bytes, kToServer);
  CHECK(parsed(bytes).seq == 0x80000000);
  CHECK(parsed(bytes).acknowledges == 0x10);
  CHECK(test::checksum_is_right(bytes));
}

TEST_CASE("shift: a segment without ACK keeps its acknowledgement field") {
  PacketBytes bytes = test::tcp6({7, 0, 0x02, {}, {}});
  translate(bytes, kToServer);
  CHECK(parsed(bytes).seq == 7 + kClientOffset);
  CHECK(parsed(bytes).acknowledges == 0);
}

TEST_CASE("shift: SACK blocks move as the acknowledgement does") {
  PacketBytes bytes = test::tcp4({1, 2, 0x10, kTwoSackBlocks, {}});
  translate(bytes, kToServer);
  const Packet packet = parsed(bytes);
  REQUIRE(packet.sack.size() == 2);
  CHECK(packet.sack[0].first == 0x1000 - kServerOffset);
  CHECK(packet.sack[0].second == 0x2000 - kServerOffset);
  CHECK(packet.sack[1].first == 0xffffffff - kServerOffset);
  CHECK(packet.sack[1].second == 9 - kServerOffset);
  CHECK(test::checksum_is_right(bytes));
}

TEST_CASE("shift: a partial checksum leaves complete") {
  PacketBytes bytes = test::tcp4({1000, 2000, 0x18, {}, kPayload});
  store16(bytes, 36, 0x1234);
  translate(bytes, kToServer);
  CHECK(test::checksum_is_right(bytes));
}

TEST_CASE("shift: there and back gives the packet again") {
  const PacketBytes original = test::tcp6({1000, 2000, 0x18, kTwoSackBlocks, kPayload});
  PacketBytes bytes = original;
  translate(bytes, kToServer);
  translate(bytes, {{-kToServer.own.sent, -kToServer.own.acknowledged}, {}});
  CHECK(bytes == original);
}

TEST_CASE("shift: an ICMP error quotes the packet as its sender sent it") {
  const PacketBytes sent = test::tcp4({1000, 2000, 0x18, kTwoSackBlocks, PacketBytes(1400)});
  PacketBytes on_the_other_side = sent;
  translate(on_the_other_side, kToServer);
  for (const std::size_t quote : {std::size_t{28}, std::size_t{32}, std::size_t{60}, std::size_t{548}}) {
    PacketBytes error = test::icmp4_about(on_the_other_side, quote);
    translate(error, kToClient);
    CHECK(PacketBytes(error.begin() + 28, error.end()) ==
          PacketBytes(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(quote)));
    CHECK(test::checksum_is_right(error));
  }
}

TEST_CASE("shift: an ICMPv6 error quotes the packet as its sender sent it, in either direction") {
  const PacketBytes sent = test::tcp6({1000, 2000, 0x18, {}, kPayload}, true);
  PacketBytes on_the_other_side = sent;
  translate(on_the_other_side, kToClient);
  PacketBytes error = test::icmp6_about(on_the_other_side, 1000);
  translate(error, kToServer);
  CHECK(quoted(error, 40).seq == 1000);
  CHECK(quoted(error, 40).acknowledges == 2000);
  CHECK(PacketBytes(error.begin() + 48, error.end()) == sent);
  CHECK(test::checksum_is_right(error));
}

TEST_CASE("shift: the first of several fragments keeps a checksum that fits the whole") {
  const PacketBytes whole = test::tcp4({1000, 2000, 0x18, {}, PacketBytes(64, 'x')});
  PacketBytes translated_whole = whole;
  translate(translated_whole, kToServer);
  PacketBytes first(whole.begin(), whole.begin() + 60);
  store16(first, 2, 60);
  store16(first, 6, 0x2000);
  translate(first, kToServer);
  CHECK(load16(first, 36) == load16(translated_whole, 36));
}

TEST_CASE("shift: later fragments, other protocols and broken packets stay as they are") {
  PacketBytes later = test::tcp4({1000, 2000, 0x10, {}, {}});
  store16(later, 6, 0x0010);
  PacketBytes udp = test::tcp4({1000, 2000, 0x10, {}, {}});
  udp[9] = kProtocolUdp;
  const PacketBytes whole = test::tcp4({1, 2, 0x10, {}, {}});
  const PacketBytes truncated(whole.begin(), whole.begin() + 12);
  for (const PacketBytes& original : {later, udp, truncated, PacketBytes{}, PacketBytes{0x45}}) {
    PacketBytes bytes = original;
    translate(bytes, kToServer);
    CHECK(bytes == original);
  }
}

TEST_CASE("shift: no cut of a packet makes it read beyond its end") {
  const PacketBytes sent = test::tcp6({1000, 2000, 0x18, kTwoSackBlocks, kPayload});
  const PacketBytes error = test::icmp6_about(sent, 200);
  for (const PacketBytes& whole : {sent, error}) {
    for (std::size_t size = 0; size <= whole.size(); ++size) {
      PacketBytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      translate(cut, kToServer);
      parse_packet(cut);
    }
  }
}

}  // namespace headrace::lab
