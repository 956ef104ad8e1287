// SPDX-License-Identifier: GPL-3.0-or-later
#include "policy/address.hpp"

#include <unordered_set>

#include "tests/test.hpp"

using namespace headrace;
using Catch::Contains;

namespace {

struct PrefixRow {
  std::string_view text;
  std::string_view result;  // the prefix as printed, or, after '!', a part of the complaint
};

// The spellings that went wrong in the field, and their neighbours. None ever becomes /0.
constexpr PrefixRow kPrefixes[] = {
    {"198.18.0.0/15", "198.18.0.0/15"},
    {"198.18.1.2", "198.18.1.2"},
    {"198.18.1.2/32", "198.18.1.2"},
    {"0.0.0.0/0", "0.0.0.0/0"},
    {"::/0", "::/0"},
    {"2001:db8::/32", "2001:db8::/32"},
    {"2001:DB8:0::1", "2001:db8::1"},
    {"2001:db8::1/128", "2001:db8::1"},
    {"::ffff:198.18.1.2", "198.18.1.2"},
    {"::ffff:198.18.0.0/111", "198.18.0.0/15"},
    {"::ffff:c612:0/112", "198.18.0.0/16"},
    {"128.0.0.0/1", "128.0.0.0/1"},
    {"10.0.0.1/8", "!\"10.0.0.0/8\""},
    {"198.18.1.2/31", "198.18.1.2/31"},
    {"198.18.1.3/31", "!\"198.18.1.2/31\""},
    {"10.0.0.1/0", "!\"0.0.0.0/0\""},
    {"2001:db8::1/64", "!\"2001:db8::/64\""},
    {"::1/0", "!\"::/0\""},
    {"::ffff:198.18.0.0/95", "!wider than IPv4"},
    {"10.0.0.0/", "!length"},
    {"10.0.0.0/24.5", "!length"},
    {"10.0.0.0/33", "!length"},
    {"10.0.0.0/-1", "!length"},
    {"10.0.0.0/+8", "!length"},
    {"10.0.0.0/ 8", "!length"},
    {"10.0.0.0/08", "!length"},
    {"10.0.0.0/0x8", "!length"},
    {"10.0.0.0/8/8", "!length"},
    {"10.0.0.0/255.0.0.0", "!length"},
    {"2001:db8::/129", "!length"},
    {"010.0.0.1", "!not an address"},
    {"db", "!host name"},
    {"10.0.0", "!not an address"},
    {"10", "!not an address"},
    {"10.0.0.256", "!not an address"},
    {"10.0.0.1.", "!not an address"},
    {"10.0.0.1 ", "!not an address"},
    {" 10.0.0.1", "!not an address"},
    {"", "!not an address"},
    {"/8", "!not an address"},
    {"0x0a.0.0.1", "!host name"},
    {"fe80::1%eth0", "!not an address"},
    {"[2001:db8::1]", "!not an address"},
    {"2001:db8::12345", "!not an address"},
    {"2001:db8:::1", "!not an address"},
    {"1:2:3:4:5:6:7:8:9", "!not an address"},
    {"db.example.com", "!host name"},
    {"localhost", "!host name"},
};

IpAddress address(std::string_view text) { return *parse_address(text); }

}  // namespace

TEST_CASE("addresses: each spelling of a prefix is taken as it is meant or refused") {
  for (const PrefixRow& row : kPrefixes) {
    INFO("text: \"" << row.text << "\"");
    const auto parsed = parse_prefix(row.text);
    if (row.result.starts_with('!')) {
      REQUIRE_FALSE(parsed);
      CHECK_THAT(parsed.complaint(), Contains(std::string{row.result.substr(1)}));
    } else {
      REQUIRE(parsed);
      CHECK(print(*parsed) == row.result);
    }
  }
}

TEST_CASE("addresses: text after a NUL is not ignored") {
  CHECK_FALSE(parse_address(std::string_view{"10.0.0.1\0.evil", 14}));
}

TEST_CASE("addresses: an IPv4-mapped address is the IPv4 address") {
  CHECK(address("::ffff:198.18.1.2") == address("198.18.1.2"));
  CHECK(parse_prefix("198.18.0.0/15")->contains(address("::ffff:198.18.1.2")));
}

TEST_CASE("addresses: a prefix holds its own and nothing beside") {
  const auto prefix = *parse_prefix("198.18.0.0/15");
  CHECK(prefix.contains(address("198.18.0.0")));
  CHECK(prefix.contains(address("198.19.255.255")));
  CHECK_FALSE(prefix.contains(address("198.20.0.0")));
  CHECK_FALSE(prefix.contains(address("::c612:1")));
  CHECK(prefix.contains(*parse_prefix("198.19.0.0/16")));
  CHECK(prefix.contains(prefix));
  CHECK_FALSE(parse_prefix("198.19.0.0/16")->contains(prefix));
  CHECK(parse_prefix("0.0.0.0/0")->contains(address("255.255.255.255")));
  CHECK_FALSE(parse_prefix("0.0.0.0/0")->contains(address("2001:db8::1")));
  CHECK(parse_prefix("2001:db8::/29")->contains(address("2001:dbf::")));
  CHECK_FALSE(parse_prefix("2001:db8::/29")->contains(address("2001:dc0::")));
  CHECK(Prefix{address("198.18.1.2"), 99}.length() == 32);
}

TEST_CASE("addresses: loopback, link-local and unspecified are told apart") {
  CHECK(address("127.1.2.3").is_loopback());
  CHECK(address("::1").is_loopback());
  CHECK_FALSE(address("::2").is_loopback());
  CHECK(address("::").is_unspecified());
  CHECK(address("0.0.0.0").is_unspecified());
  CHECK(address("fe80::1").is_link_local());
  CHECK(address("febf::1").is_link_local());
  CHECK_FALSE(address("fec0::1").is_link_local());
  CHECK(address("169.254.1.1").is_link_local());
}

TEST_CASE("addresses: endpoints are read and printed the same way") {
  for (const auto* text : {"198.18.1.2:1521", "[2001:db8::1]:1521", "[fe80::1%3]:80", "0.0.0.0:65535"}) {
    INFO(text);
    REQUIRE(parse_endpoint(text));
    CHECK(print(*parse_endpoint(text)) == text);
  }
  CHECK(print(*parse_endpoint("1521")) == "127.0.0.1:1521");
  for (const auto* text :
       {"", ":", "198.18.1.2", "198.18.1.2:", "198.18.1.2:0", "198.18.1.2:65536", "198.18.1.2:-1",
        "2001:db8::1:1521", "[2001:db8::1]", "[2001:db8::1]1521", "[198.18.1.2]:80", "localhost:80",
        "[fe80::1%eth0]:80", "[2001:db8::1%3]:80", "0", "0x50", "198.18.1.2:0x50", "a:1"}) {
    INFO(text);
    CHECK_FALSE(parse_endpoint(text));
  }
}

TEST_CASE("addresses: port ranges run forwards") {
  CHECK(*parse_port_range("1521") == PortRange{1521, 1521});
  CHECK(*parse_port_range("1600-1610") == PortRange{1600, 1610});
  CHECK_THAT(parse_port_range("20-10").complaint(), Contains("\"20-10\" runs backwards (a port"));
  for (const auto* text :
       {"", "-", "1-", "-1", "0", "0-10", "65536", "1-65536", "1-2-3", "http", "1 - 2", "01"}) {
    INFO(text);
    CHECK_FALSE(parse_port_range(text));
  }
}

TEST_CASE("addresses: neighbours have hashes of their own") {
  std::unordered_set<std::size_t> low_bits;
  for (std::uint8_t host = 0; host < 255; ++host) {
    low_bits.insert(std::hash<IpAddress>{}(IpAddress::v4({10, 0, 0, host})) % 65537);
  }
  CHECK(low_bits.size() > 240);
}
