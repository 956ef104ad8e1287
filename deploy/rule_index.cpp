// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/rule_index.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "deploy/address_sets.hpp"

namespace headrace {
namespace {

// Below this many rules people read the plain form more easily. A rule that does not match costs a SYN about
// 62 ns (tests/deploy/policy_cost), so 16 of them cost half of what the diversion of a SYN costs anyway.
constexpr std::size_t kWorthAnIndex = 16;
// How many times more rules the cut-up form may hold than the plain one: bounds the time of `nft -f`.
constexpr std::size_t kMaxGrowth = 4;

using List = std::vector<std::size_t>;
using Keys = std::vector<Prefix> MatchRule::*;

struct Builder {
  const std::vector<MatchRule>& rules;
  Keys keys;
  std::size_t budget;  // of rules in all lists
  RuleIndex index;
  std::map<List, std::size_t> known;

  // The end of the list is the first rule that has no further condition: what follows can't be reached.
  List cut(const List& list) const {
    const auto ends = [this](std::size_t i) {
      MatchRule rest = rules[i];
      (rest.*keys).clear();
      return rest.matches_all();
    };
    const auto last = std::find_if(list.begin(), list.end(), ends);
    return last == list.end() ? list : List(list.begin(), last + 1);
  }

  bool add_region(const IpAddress& first, const IpAddress& last, const List& list) {
    if (list.empty()) return true;
    const auto [at, is_new] = known.try_emplace(list, index.lists.size());
    if (is_new) {
      if (list.size() > budget) return false;
      budget -= list.size();
      index.lists.push_back(list);
    }
    auto& regions = index.regions;
    if (!regions.empty() && regions.back().list == at->second && next(regions.back().last) == first) {
      regions.back().last = last;
    } else {
      regions.push_back({first, last, at->second});
    }
    return true;
  }
};

struct Enclosing {
  Prefix prefix;
  List list;        // every rule that takes the whole prefix
  IpAddress begin;  // what of the prefix is not handed out yet
  bool finished = false;
};

List merge(const List& left, const List& right) {
  List both;
  std::set_union(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both));
  return both;
}

// Hands out what is left of the innermost prefix, then continues behind it in the one around it.
bool close_innermost(Builder& builder, std::vector<Enclosing>& open) {
  const Enclosing inner = std::move(open.back());
  open.pop_back();
  const IpAddress last = last_address(inner.prefix);
  if (!inner.finished && !builder.add_region(inner.begin, last, inner.list)) return false;
  if (open.empty()) return true;
  open.back().finished = last == last_address(open.back().prefix);
  open.back().begin = next(last);
  return true;
}

// Prefixes lie apart or one inside the other, so one pass in order with the enclosing ones on a stack
// visits every region: what a prefix covers and none of those inside it does.
std::optional<RuleIndex> cut_up(const std::vector<MatchRule>& rules, Family family, Keys keys) {
  Builder builder{rules, keys, rules.size() * kMaxGrowth, {}, {}};
  std::map<Prefix, List> rules_of;
  const Prefix everything{family == Family::ipv4 ? IpAddress{} : IpAddress::v6({}), 0};
  rules_of[everything];
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if ((rules[i].*keys).empty()) rules_of[everything].push_back(i);
    for (const Prefix& prefix : rules[i].*keys) rules_of[prefix].push_back(i);
  }
  std::vector<Enclosing> open;
  for (const auto& [prefix, own] : rules_of) {
    while (!open.empty() && !open.back().prefix.contains(prefix)) {
      if (!close_innermost(builder, open)) return std::nullopt;
    }
    if (!open.empty() && open.back().begin != prefix.base() &&
        !builder.add_region(open.back().begin, previous(prefix.base()), open.back().list)) {
      return std::nullopt;
    }
    const List around = open.empty() ? List{} : open.back().list;
    open.push_back({prefix, builder.cut(merge(around, own)), prefix.base()});
  }
  while (!open.empty()) {
    if (!close_innermost(builder, open)) return std::nullopt;
  }
  return std::move(builder.index);
}

std::size_t longest_list(const RuleIndex& index) {
  std::size_t longest = 0;
  for (const List& list : index.lists) longest = std::max(longest, list.size());
  return longest;
}

}  // namespace

RuleIndex index_rules(const std::vector<MatchRule>& rules, Family family) {
  RuleIndex best;
  std::size_t walk = rules.size() / 2;
  if (rules.size() < kWorthAnIndex) return best;
  for (const auto& [by, keys] :
       {std::pair{IndexBy::to, &MatchRule::to}, std::pair{IndexBy::from, &MatchRule::from}}) {
    auto index = cut_up(rules, family, keys);
    if (!index || longest_list(*index) >= walk) continue;
    walk = longest_list(*index);
    best = std::move(*index);
    best.by = by;
  }
  return best;
}

}  // namespace headrace
