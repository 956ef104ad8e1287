// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/policy_table.hpp"

// How PolicyTable finds the first match without walking the policies: prefixes hashed by family, length
// and masked address. Private to policy/; borrows the table's policies, which must outlive it.
namespace headrace {

// From prefix to the ascending indices of what was added under it. A lookup costs one probe for each
// length in use, and people use a handful.
class PrefixMap {
 public:
  void add(const Prefix& prefix, std::uint32_t index);

  std::size_t count(const Prefix& prefix) const;

  // Calls visit(indices) for each added prefix that contains `prefix`.
  template <class Visit>
  void for_each_containing(const Prefix& prefix, Visit visit) const {
    for (const auto& [length, bases] : lengths_[prefix.base().is_v4() ? 0 : 1]) {
      if (length > prefix.length()) continue;
      const auto found = bases.find(Prefix{prefix.base(), length}.base());
      if (found != bases.end()) visit(std::span<const std::uint32_t>{found->second});
    }
  }

  bool contains(const IpAddress& address) const;

 private:
  using Bases = std::unordered_map<IpAddress, std::vector<std::uint32_t>>;
  std::array<std::vector<std::pair<unsigned, Bases>>, 2> lengths_;  // per family
};

class PolicyIndex {
 public:
  explicit PolicyIndex(const std::vector<Policy>& policies);

  std::optional<std::size_t> first_match(const std::vector<Policy>& policies, const Flow& flow) const;
  // The first policy before `index` that covers it whole.
  std::optional<std::size_t> first_cover(const std::vector<Policy>& policies, std::size_t index) const;

 private:
  bool matches(const std::vector<Policy>& policies, std::uint32_t index, const Flow& flow) const;

  // Each policy is in exactly one of the two: by source where many policies share its destination (a hub
  // whose branches each have a policy to "any"), else by destination.
  PrefixMap by_to_;
  PrefixMap by_from_;
  // Long lists of one policy as sets, so that a group of thousands costs no walk either.
  std::unordered_map<std::uint32_t, PrefixMap> to_sets_;
  std::unordered_map<std::uint32_t, PrefixMap> from_sets_;
};

}  // namespace headrace
