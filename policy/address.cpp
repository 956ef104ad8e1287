// SPDX-License-Identifier: GPL-3.0-or-later
#include "policy/address.hpp"

#include <arpa/inet.h>
#include <algorithm>
#include <cstring>

#include "policy/units.hpp"

namespace headrace {
namespace {

constexpr unsigned kMappedBits = 96;  // ::ffff:0:0/96

std::string quoted(std::string_view text) { return "\"" + std::string{text.substr(0, 80)} + "\""; }

Complaint complain(std::string_view text, std::string_view what) {
  return Complaint{quoted(text).append(" ").append(what)};
}

bool is_mapped(const IpAddress::Octets& octets) {
  static constexpr std::array<std::uint8_t, 12> kLead{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(kLead.begin(), kLead.end(), octets.begin());
}

IpAddress masked(const IpAddress& address, unsigned length) {
  IpAddress::Octets octets = address.octets();
  for (unsigned i = 0; i < octets.size(); ++i) {
    const unsigned kept = std::clamp(length, i * 8, i * 8 + 8) - i * 8;
    octets[i] = static_cast<std::uint8_t>(octets[i] & (0xff00U >> kept));
  }
  return address.is_v4() ? IpAddress::v4({octets[0], octets[1], octets[2], octets[3]})
                         : IpAddress::v6(octets);
}

bool looks_like_host_name(std::string_view text) {
  const auto letter = [](char c) { return ('a' <= (c | 0x20) && (c | 0x20) <= 'z') || c == '_'; };
  return text.find(':') == text.npos && std::any_of(text.begin(), text.end(), letter);
}

Complaint address_complaint(std::string_view text) {
  if (looks_like_host_name(text)) {
    return complain(text, "is a host name (an address: names are not resolved, their answer may change)");
  }
  if (text.find('%') != text.npos) return complain(text, "has a zone (an address without %zone)");
  return complain(text, R"(is not an address (like "198.18.1.2" or "2001:db8::1", no leading zeros))");
}

// The port of an endpoint; `whole` is the text to quote.
Parsed<std::uint16_t> parse_port(std::string_view text, std::string_view whole) {
  const auto port = parse_number(text, 1, 65535);
  if (!port || text.starts_with("0x")) return complain(whole, "has no good port (1-65535)");
  return static_cast<std::uint16_t>(*port);
}

Parsed<Endpoint> parse_bracketed(std::string_view text) {
  const auto close = text.find("]:");
  if (close == text.npos) return complain(text, R"(is not an endpoint (like "[2001:db8::1]:1521"))");
  std::string_view inside = text.substr(1, close - 1);
  std::uint32_t scope = 0;
  if (const auto percent = inside.find('%'); percent != inside.npos) {
    const auto index = parse_number(inside.substr(percent + 1), 1, UINT32_MAX);
    if (!index)
      return complain(text, "has a bad scope (the number of an interface, like \"[fe80::1%3]:1521\")");
    scope = static_cast<std::uint32_t>(*index);
    inside = inside.substr(0, percent);
  }
  const auto address = parse_address(inside);
  if (!address) return Complaint{address.complaint()};
  if (address->is_v4()) return complain(text, "puts an IPv4 address in brackets (like \"198.18.1.2:1521\")");
  if (scope != 0 && !address->is_link_local())
    return complain(text, "scopes an address that is not link-local");
  const auto port = parse_port(text.substr(close + 2), text);
  if (!port) return Complaint{port.complaint()};
  return Endpoint{*address, *port, scope};
}

}  // namespace

IpAddress IpAddress::v4(const std::array<std::uint8_t, 4>& octets) {
  IpAddress address;
  std::copy(octets.begin(), octets.end(), address.octets_.begin());
  return address;
}

IpAddress IpAddress::v6(const Octets& octets) {
  if (is_mapped(octets)) return v4({octets[12], octets[13], octets[14], octets[15]});
  IpAddress address;
  address.family_ = Family::ipv6;
  address.octets_ = octets;
  return address;
}

bool IpAddress::is_loopback() const {
  if (is_v4()) return octets_[0] == 127;
  return octets_[15] == 1 && std::all_of(octets_.begin(), octets_.end() - 1, [](auto o) { return o == 0; });
}

bool IpAddress::is_unspecified() const { return octets_ == Octets{}; }

bool IpAddress::is_link_local() const {
  if (is_v4()) return octets_[0] == 169 && octets_[1] == 254;
  return octets_[0] == 0xfe && (octets_[1] & 0xc0) == 0x80;
}

Prefix::Prefix(const IpAddress& base, unsigned length)
    : base_{masked(base, std::min(length, base.width()))},
      length_{static_cast<std::uint8_t>(std::min(length, base.width()))} {}

bool Prefix::contains(const IpAddress& address) const {
  if (address.family() != base_.family()) return false;
  const auto& ours = base_.octets();
  const auto& theirs = address.octets();
  const unsigned whole = length_ / 8U;
  if (std::memcmp(ours.data(), theirs.data(), whole) != 0) return false;
  const unsigned rest = length_ % 8U;
  return rest == 0 || ((ours[whole] ^ theirs[whole]) & (0xff00U >> rest) & 0xffU) == 0;
}

bool Prefix::contains(const Prefix& other) const { return length_ <= other.length_ && contains(other.base_); }

Parsed<IpAddress> parse_address(std::string_view text) {
  // inet_pton reads to the first NUL; what follows it would be ignored.
  if (text.size() > INET6_ADDRSTRLEN || text.find('\0') != text.npos) return address_complaint(text);
  const std::string copy{text};
  std::array<std::uint8_t, 4> four{};
  if (inet_pton(AF_INET, copy.c_str(), four.data()) == 1) return IpAddress::v4(four);
  IpAddress::Octets sixteen{};
  if (inet_pton(AF_INET6, copy.c_str(), sixteen.data()) == 1) return IpAddress::v6(sixteen);
  return address_complaint(text);
}

Parsed<Prefix> parse_prefix(std::string_view text) {
  const auto slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  if (!address) {
    if (looks_like_host_name(text.substr(0, slash))) return Complaint{address.complaint()};
    return complain(text, R"(is not an address or a prefix (like "198.18.0.0/15" or "2001:db8::/32"))");
  }
  if (slash == text.npos) return Prefix::host(*address);
  const bool mapped = address->is_v4() && text.find(':') != text.npos;
  const unsigned width = mapped ? 128 : address->width();
  const auto length = parse_number(text.substr(slash + 1), 0, width);
  if (!length || text.substr(slash + 1).starts_with("0x")) {
    return complain(text, "has no good length (/0 to /" + std::to_string(width) + ")");
  }
  if (mapped && *length < kMappedBits) return complain(text, "is wider than IPv4 (write the IPv4 prefix)");
  const Prefix prefix{*address, static_cast<unsigned>(*length) - (mapped ? kMappedBits : 0)};
  if (prefix.base() != *address) {
    const std::string form = prefix.length() == prefix.base().width()
                                 ? print(prefix)
                                 : print(prefix.base()) + "/" + std::to_string(prefix.length());
    return complain(text,
                    "has bits set beyond its length (" + quoted(form) + ", or one address without a length)");
  }
  return prefix;
}

Parsed<Endpoint> parse_endpoint(std::string_view text) {
  if (text.starts_with('[')) return parse_bracketed(text);
  const auto colon = text.rfind(':');
  if (colon == text.npos) {
    const auto port = parse_port(text, text);
    if (!port)
      return complain(text, R"(is not an endpoint (like "198.18.1.2:1521", "[2001:db8::1]:1521" or a port))");
    return Endpoint{IpAddress::v4({127, 0, 0, 1}), *port};
  }
  if (text.find(':') != colon)
    return complain(text, R"(has too many colons (IPv6 in brackets: "[2001:db8::1]:1521"))");
  const auto address = parse_address(text.substr(0, colon));
  if (!address) return Complaint{address.complaint()};
  const auto port = parse_port(text.substr(colon + 1), text);
  if (!port) return Complaint{port.complaint()};
  return Endpoint{*address, *port};
}

Parsed<PortRange> parse_port_range(std::string_view text) {
  constexpr std::string_view kAccepted = R"((a port 1-65535 or a range like "1600-1610"))";
  const auto dash = text.find('-');
  const auto bad = [&](std::string_view what) {
    return complain(text, std::string{what}.append(" ").append(kAccepted));
  };
  const auto first = parse_port(text.substr(0, dash), text);
  if (!first) return bad("is not a port");
  if (dash == text.npos) return PortRange{*first, *first};
  const auto last = parse_port(text.substr(dash + 1), text);
  if (!last) return bad("is not a port range");
  if (*last < *first) return bad("runs backwards");
  return PortRange{*first, *last};
}

std::string print(const IpAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(address.is_v4() ? AF_INET : AF_INET6, address.octets().data(), text.data(), text.size());
  return text.data();
}

std::string print(const Endpoint& endpoint) {
  std::string address = print(endpoint.address);
  if (endpoint.scope != 0) address += "%" + std::to_string(endpoint.scope);
  if (!endpoint.address.is_v4()) address = "[" + address + "]";
  return address + ":" + std::to_string(endpoint.port);
}

std::string print(const Prefix& prefix) {
  if (prefix.length() == prefix.base().width()) return print(prefix.base());
  return print(prefix.base()) + "/" + std::to_string(prefix.length());
}

std::string print(const PortRange& range) {
  if (range.first == range.last) return std::to_string(range.first);
  return std::to_string(range.first) + "-" + std::to_string(range.last);
}

}  // namespace headrace

std::size_t std::hash<headrace::IpAddress>::operator()(const headrace::IpAddress& address) const noexcept {
  std::array<std::uint64_t, 2> words{};
  std::memcpy(words.data(), address.octets().data(), sizeof words);
  // Multiply and fold (as in wyhash): neighbouring addresses must not share buckets.
  std::uint64_t mixed =
      (words[0] ^ (words[1] * 0x9e3779b97f4a7c15U)) + static_cast<std::uint64_t>(address.family());
  mixed = (mixed ^ (mixed >> 32U)) * 0xd6e8feb86659fd93U;
  return static_cast<std::size_t>(mixed ^ (mixed >> 32U));
}
