// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "policy/policy_table.hpp"
#include "policy/prefix_map.hpp"

// How PolicyTable finds the first match without walking the policies: by their destination's prefixes, or by
// their source's where many share a destination. Private to policy/; the policies that it was made of are
// passed in.
namespace headrace {

class PolicyIndex {
 public:
  explicit PolicyIndex(const std::vector<Policy>& policies);

  std::optional<std::size_t> first_match(const std::vector<Policy>& policies, const Flow& flow) const;
  // The first policy before `index` that covers it whole.
  std::optional<std::size_t> first_cover(const std::vector<Policy>& policies, std::size_t index) const;

 private:
  // What is asked of most candidates, in eight bytes instead of a walk through a policy's vectors.
  struct Summary {
    PortRange ports;
    bool one_range = true;  // `ports` says all; else the policy's list does
    bool any_from = true;
  };

  bool port_matches(const Match& match, std::uint32_t index, std::uint16_t port) const;
  bool from_matches(const Match& match, std::uint32_t index, const IpAddress& client) const;
  bool to_matches(const Match& match, std::uint32_t index, const IpAddress& destination) const;

  // Each policy is in exactly one of the two: by source where many policies share its destination (a hub
  // whose branches each have a policy to "any"), else by destination.
  PrefixMap by_to_;
  PrefixMap by_from_;
  std::vector<Summary> summaries_;
  // Long lists of one policy as sets, so that a group of thousands costs no walk either.
  std::unordered_map<std::uint32_t, PrefixMap> to_sets_;
  std::unordered_map<std::uint32_t, PrefixMap> from_sets_;
};

}  // namespace headrace
