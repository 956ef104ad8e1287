// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/packet.hpp"

#include <sstream>

#include "tests/bench/packets.hpp"
#include "tests/test.hpp"

namespace headrace::lab {

TEST_CASE("packet: a SYN shows its addresses, flags and options") {
  const test::PacketBytes options{2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6, 1, 3, 3, 7};
  const auto packet = parse_packet(test::tcp4({1000, 0, 0x02, options, {}}));
  REQUIRE(packet);
  CHECK(packet->from == "198.18.1.2");
  CHECK(packet->to == "198.18.2.2");
  CHECK(packet->from_port == 40000);
  CHECK(packet->to_port == 1521);
  CHECK((packet->syn && !packet->ack && !packet->fin && !packet->rst));
  CHECK(packet->mss == 1460);
  CHECK(packet->window_scale == 7);
  CHECK(packet->sack_permitted);
  CHECK(packet->timestamps == std::pair<std::uint32_t, std::uint32_t>(5, 6));
  CHECK(packet->window == 501);
  CHECK(packet->payload == 0);
}

TEST_CASE("packet: payload is counted by the packet's own length, not by what was captured") {
  test::PacketBytes bytes = test::tcp6({1, 2, 0x18, {}, test::PacketBytes(900)});
  bytes.resize(100);
  const auto packet = parse_packet(bytes);
  REQUIRE(packet);
  CHECK(packet->from == "2001:db8:1::2");
  CHECK(packet->payload == 900);
  CHECK(packet->size == 960);
}

TEST_CASE("packet: the traffic class is split into DSCP and ECN in both families") {
  test::PacketBytes four = test::tcp4({1, 2, 0x10, {}, {}});
  four[1] = 0xb9;
  test::PacketBytes six = test::tcp6({1, 2, 0x10, {}, {}});
  store16(six, 0, 0x6b90);
  for (const auto& bytes : {four, six}) {
    CHECK(parse_packet(bytes)->dscp == 46);
    CHECK(parse_packet(bytes)->ecn == 1);
  }
}

TEST_CASE("packet: an ICMP error shows type, code and MTU") {
  const auto quoted = test::tcp4({1, 2, 0x10, {}, {}});
  const auto packet = parse_packet(test::icmp4_about(quoted, 28));
  REQUIRE(packet);
  CHECK(packet->icmp_type == 3);
  CHECK(packet->icmp_code == 4);
  CHECK(packet->icmp_mtu == 1300);
  const auto six = parse_packet(test::icmp6_about(test::tcp6({1, 2, 0x10, {}, {}}), 48));
  REQUIRE(six);
  CHECK(six->icmp_type == 2);
  CHECK(six->icmp_mtu == 1300);
}

TEST_CASE("packet: one line for people") {
  std::ostringstream line;
  line << *parse_packet(test::tcp4({1000, 2000, 0x18, {}, {1, 2, 3}}));
  CHECK(line.str() ==
        " in 198.18.1.2.40000 > 198.18.2.2.1521 proto 6 [P.] seq 1000 ack 2000 win 501 payload 3");
}

}  // namespace headrace::lab
