// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <vector>

#include "deploy/match_rules.hpp"

// A list of rules cut up by address, so that a SYN is compared with the few rules that its address can
// meet and not with all of them. The order within a region is the order of the rules: first match still
// wins. Pure.
namespace headrace {

enum class IndexBy : std::uint8_t { nothing, to, from };

struct RuleIndex {
  struct Region {
    IpAddress first;
    IpAddress last;    // inclusive; regions are ascending and disjoint
    std::size_t list;  // into `lists`
  };
  IndexBy by = IndexBy::nothing;  // nothing: walk the rules one by one
  std::vector<Region> regions;
  std::vector<std::vector<std::size_t>> lists;  // indices of rules, each list once
};

// By the side that gives the shorter lists; by nothing where that would not pay (few rules, or most of
// them meet in every region).
RuleIndex index_rules(const std::vector<MatchRule>& rules, Family family);

}  // namespace headrace
