// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/syn_facts.hpp"

#include <vector>

#include "tests/test.hpp"

using namespace headrace;

namespace {

using Header = std::vector<std::uint8_t>;

Header ipv4(std::uint8_t tos) {
  Header header(20, 0);
  header[0] = 0x45;
  header[1] = tos;
  return header;
}

Header ipv6(std::uint8_t traffic_class) {
  Header header(40, 0);
  header[0] = static_cast<std::uint8_t>(0x60 | traffic_class >> 4);
  header[1] = static_cast<std::uint8_t>(traffic_class << 4);
  return header;
}

Header with_tcp(Header header, const Header& options) {
  Header tcp(20, 0);
  header.insert(header.end(), tcp.begin(), tcp.end());
  header.insert(header.end(), options.begin(), options.end());
  return header;
}

}  // namespace

TEST_CASE("syn facts: the DSCP is read in both families") {
  CHECK(read_syn(with_tcp(ipv4(46 << 2 | 1), {})).dscp.code_point == 46);
  CHECK(read_syn(with_tcp(ipv6(46 << 2 | 1), {})).dscp.code_point == 46);
}

TEST_CASE("syn facts: the segment size is found wherever it stands among the options") {
  CHECK(read_syn(with_tcp(ipv4(0), {2, 4, 0x05, 0xb4})).mss == 1460);
  CHECK(read_syn(with_tcp(ipv6(0), {1, 1, 4, 2, 2, 4, 0x02, 0x00})).mss == 512);
}

TEST_CASE("syn facts: options that are cut short or lie about their length say nothing") {
  CHECK(read_syn(with_tcp(ipv4(0), {2, 4, 5})).mss == 0);
  CHECK(read_syn(with_tcp(ipv4(0), {8, 0, 2, 4, 5, 0xb4})).mss == 0);
  CHECK(read_syn(with_tcp(ipv4(0), {0, 2, 4, 5, 0xb4})).mss == 0);
  CHECK(read_syn(with_tcp(ipv4(0), {8, 40, 2, 4})).mss == 0);
  CHECK(read_syn({}).mss == 0);
  CHECK(read_syn(ipv4(0)).mss == 0);
}
