// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/syn_packet.hpp"

#include <vector>

#include "tests/test.hpp"

using namespace headrace;

namespace {

using Octets = std::vector<std::uint8_t>;

// From port 0x9c40 to 0x05f1, sequence 0x01020304, an MSS of 1460.
Octets tcp(std::uint8_t flags, Octets options = {2, 4, 0x05, 0xb4}) {
  Octets bytes{0x9c, 0x40, 0x05, 0xf1, 1, 2, 3, 4, 0, 0, 0, 0, 0, flags, 0xff, 0xff, 0, 0, 0, 0};
  bytes[12] = static_cast<std::uint8_t>((20 + options.size()) / 4 << 4);
  for (const std::uint8_t octet : options)
    bytes.push_back(octet);  // insert() sets gcc 12's -Warray-bounds off
  return bytes;
}

Octets ipv4(const Octets& payload, const Octets& options = {}) {
  Octets bytes{0x45, 46 << 2, 0, 44, 0, 1, 0x40, 0, 64, 6, 0, 0, 198, 18, 1, 2, 198, 18, 2, 9};
  bytes[0] = static_cast<std::uint8_t>(0x40 | (20 + options.size()) / 4);
  bytes.insert(bytes.end(), options.begin(), options.end());
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

Octets ipv6(const Octets& payload, std::uint8_t next = 6) {
  Octets bytes{0x60, 0, 0, 0, 0, 24, next, 64};
  const Octets network{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  for (const char last : {'\1', '\2'}) {
    bytes.insert(bytes.end(), network.begin(), network.end());
    bytes.push_back(static_cast<std::uint8_t>(last));
  }
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

constexpr std::uint8_t kSyn = 2, kSynAck = 0x12, kReset = 4, kEcnSyn = 0xc2;

}  // namespace

TEST_CASE("syn packet: a SYN tells its flow, its sequence number and what it says, in both families") {
  const auto four = read_syn_packet(ipv4(tcp(kSyn)));
  REQUIRE(four);
  CHECK(print(four->flow.client.value) == "198.18.1.2:40000");
  CHECK(print(four->flow.destination.value) == "198.18.2.9:1521");
  CHECK(four->sequence == 0x01020304);
  CHECK(four->facts == SynFacts{{46}, 1460});
  const auto six = read_syn_packet(ipv6(tcp(kSyn)));
  REQUIRE(six);
  CHECK(print(six->flow.client.value) == "[2001:db8::1]:40000");
  CHECK(print(six->flow.destination.value) == "[2001:db8::2]:1521");
  CHECK(six->facts.mss == 1460);
}

TEST_CASE("syn packet: IP options, ECN bits and data behind the header change nothing") {
  CHECK(read_syn_packet(ipv4(tcp(kSyn), {1, 1, 1, 0}))->flow.destination.value.port == 1521);
  CHECK(read_syn_packet(ipv4(tcp(kEcnSyn)))->sequence == 0x01020304);
  Octets with_data = tcp(kSyn, {});
  with_data.insert(with_data.end(), {2, 4, 2, 0});  // of fast open, not an option
  CHECK(read_syn_packet(ipv4(with_data))->facts.mss == 0);
}

TEST_CASE("syn packet: what is not a bare SYN is none") {
  CHECK_FALSE(read_syn_packet(ipv4(tcp(kSynAck))));
  CHECK_FALSE(read_syn_packet(ipv4(tcp(kReset))));
  CHECK_FALSE(read_syn_packet(ipv6(tcp(kSyn), 43)));  // behind a routing header
  Octets udp = ipv4(tcp(kSyn));
  udp[9] = 17;
  CHECK_FALSE(read_syn_packet(udp));
  Octets later_fragment = ipv4(tcp(kSyn));
  later_fragment[7] = 8;
  CHECK_FALSE(read_syn_packet(later_fragment));
  Octets short_header = ipv4(tcp(kSyn));
  short_header[0] = 0x44;
  CHECK_FALSE(read_syn_packet(short_header));
}

TEST_CASE("syn packet: cut at any byte it is none, or the same flow with fewer facts") {
  for (const Octets& whole : {ipv4(tcp(kSyn)), ipv6(tcp(kSyn))}) {
    const auto all = read_syn_packet(whole);
    const std::size_t header = whole.size() - 4;  // its options are the last four
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const auto some = read_syn_packet(std::span{whole}.first(size));
      CHECK(some.has_value() == (size >= header));
      if (some) CHECK(some->flow == all->flow);
    }
  }
}
