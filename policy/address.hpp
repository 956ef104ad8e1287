// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "policy/parsed.hpp"

// Addresses, prefixes and ports as values. An IPv4-mapped IPv6 address *is* the IPv4 address: it is
// turned into one at the door, so that a policy for 198.18.0.0/15 matches however the socket spells it.
namespace headrace {

enum class Family : std::uint8_t { ipv4, ipv6 };

class IpAddress {
 public:
  using Octets = std::array<std::uint8_t, 16>;  // network order; IPv4 in the first four, the rest zero

  IpAddress() = default;  // 0.0.0.0
  static IpAddress v4(const std::array<std::uint8_t, 4>& octets);
  static IpAddress v6(const Octets& octets);  // IPv4-mapped becomes IPv4

  Family family() const { return family_; }
  bool is_v4() const { return family_ == Family::ipv4; }
  const Octets& octets() const { return octets_; }
  unsigned width() const { return is_v4() ? 32 : 128; }  // bits
  bool is_loopback() const;
  bool is_unspecified() const;
  bool is_link_local() const;  // fe80::/10 (needs a scope) or 169.254/16

  auto operator<=>(const IpAddress&) const = default;

 private:
  Family family_ = Family::ipv4;
  Octets octets_{};
};

// An address and a port; `scope` is the interface index of a link-local IPv6 address, else 0.
struct Endpoint {
  IpAddress address;
  std::uint16_t port = 0;
  std::uint32_t scope = 0;
  auto operator<=>(const Endpoint&) const = default;
};

// The first `length` bits of `base`; the rest of `base` is zero.
class Prefix {
 public:
  Prefix() = default;  // 0.0.0.0/0
  // Bits beyond `length` are cleared.
  Prefix(const IpAddress& base, unsigned length);
  static Prefix host(const IpAddress& address) { return {address, address.width()}; }

  const IpAddress& base() const { return base_; }
  unsigned length() const { return length_; }
  bool contains(const IpAddress& address) const;
  bool contains(const Prefix& other) const;
  auto operator<=>(const Prefix&) const = default;

 private:
  IpAddress base_;
  std::uint8_t length_ = 0;
};

struct PortRange {
  std::uint16_t first = 1;
  std::uint16_t last = 65535;
  bool contains(std::uint16_t port) const { return first <= port && port <= last; }
  bool contains(const PortRange& other) const { return first <= other.first && other.last <= last; }
  auto operator<=>(const PortRange&) const = default;
};

// Strict: no leading zeros, no zone, no brackets, no host names.
Parsed<IpAddress> parse_address(std::string_view text);
// An address or CIDR. Host bits that are set are a complaint that names the masked form.
Parsed<Prefix> parse_prefix(std::string_view text);
// "198.18.1.2:1521", "[2001:db8::1]:1521", "[fe80::1%3]:1521" (3 is an interface's index); "1521" is
// 127.0.0.1:1521.
Parsed<Endpoint> parse_endpoint(std::string_view text);
// "1521" or "1600-1610"
Parsed<PortRange> parse_port_range(std::string_view text);

std::string print(const IpAddress& address);
std::string print(const Endpoint& endpoint);  // brackets for IPv6, as parse_endpoint takes it
std::string print(const Prefix& prefix);      // a host without its length
std::string print(const PortRange& range);

}  // namespace headrace

template <>
struct std::hash<headrace::IpAddress> {
  std::size_t operator()(const headrace::IpAddress& address) const noexcept;
};
