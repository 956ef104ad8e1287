// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <random>
#include <string>
#include <vector>

#include "policy/policy_table.hpp"

// Policies and flows for the tests of this folder, written short.
namespace headrace::testing {

inline std::vector<Prefix> prefixes(const std::vector<std::string>& texts) {
  std::vector<Prefix> all;
  for (const auto& text : texts) all.push_back(*parse_prefix(text));
  return all;
}

inline Policy policy(std::string name, const std::vector<std::string>& from,
                     const std::vector<std::string>& to, std::vector<PortRange> ports = {}) {
  Policy made;
  made.match = {prefixes(from), prefixes(to), std::move(ports)};
  made.decision.policy = std::move(name);
  return made;
}

inline Flow flow(std::string_view client, std::string_view destination, std::uint16_t port) {
  return {{{*parse_address(client), 40000}}, {{*parse_address(destination), port}}};
}

// Addresses from a corner so small that random policies overlap, nest and shadow each other.
class Corner {
 public:
  explicit Corner(std::uint32_t seed) : random_{seed} {}

  std::uint32_t below(std::uint32_t bound) {
    return std::uniform_int_distribution<std::uint32_t>{0, bound - 1}(random_);
  }

  IpAddress address() {
    const auto low = static_cast<std::uint8_t>(below(16));
    const auto high = static_cast<std::uint8_t>(below(4));
    if (below(3) == 0) return IpAddress::v6({0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, high, low});
    return IpAddress::v4({198, 18, high, low});
  }

  Prefix prefix() {
    const IpAddress base = address();
    return {base, below(12) == 0 ? 0 : base.width() - below(12)};
  }

  PortRange ports() {
    const auto first = static_cast<std::uint16_t>(1 + below(8));
    return {first, static_cast<std::uint16_t>(first + below(4))};
  }

  Match match(std::uint32_t longest) {
    Match made;
    for (std::uint32_t n = below(3) == 0 ? 0 : below(longest); n > 0; --n) made.from.push_back(prefix());
    for (std::uint32_t n = 1 + below(longest); n > 0; --n) made.to.push_back(prefix());
    for (std::uint32_t n = below(3); n > 0; --n) made.ports.push_back(ports());
    return made;
  }

  Flow flow() { return {{{address(), 40000}}, {{address(), static_cast<std::uint16_t>(1 + below(12))}}}; }

 private:
  std::mt19937 random_;
};

}  // namespace headrace::testing
