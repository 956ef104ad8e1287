// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/nft_policies.hpp"

#include <cstddef>

#include "deploy/address_sets.hpp"
#include "deploy/rule_index.hpp"

namespace headrace {
namespace {

std::string_view name_of(Family family) { return family == Family::ipv4 ? "ipv4" : "ipv6"; }
std::string address_type(Family family) { return family == Family::ipv4 ? "ipv4_addr" : "ipv6_addr"; }
std::string selector(Family family, std::string_view side) {
  return std::string{family == Family::ipv4 ? "ip " : "ip6 "}.append(side);
}

template <class List>
std::vector<std::string> print_all(const List& list) {
  std::vector<std::string> printed;
  for (const auto& item : list) printed.push_back(print(item));
  return printed;
}

std::string join(const std::vector<std::string>& items) {
  std::string joined;
  for (const std::string& item : items) joined.append(joined.empty() ? "" : ", ").append(item);
  return joined;
}

MatchRule without_key(MatchRule rule, IndexBy by) {
  (by == IndexBy::to ? rule.to : rule.from).clear();
  return rule;
}

std::string_view side(IndexBy by) { return by == IndexBy::to ? "daddr" : "saddr"; }

NftTable::Set address_map(const std::string& prefix, IndexBy by, Family family, std::string_view suffix,
                          std::string_view flags) {
  std::string name = prefix + std::string{side(by)};
  name.append("_").append(name_of(family)).append(suffix);
  return {name, "map", "    type " + address_type(family) + " : verdict\n" + std::string{flags}, {}};
}

// Neighbours that are sent to the same are one.
std::vector<RuleIndex::Region> joined(const std::vector<RuleIndex::Region>& regions,
                                      const std::vector<std::string>& targets) {
  std::vector<RuleIndex::Region> fewer;
  for (const RuleIndex::Region& region : regions) {
    if (!fewer.empty() && targets[fewer.back().list] == targets[region.list] &&
        next(fewer.back().last) == region.first)
      fewer.back().last = region.last;
    else
      fewer.push_back(region);
  }
  return fewer;
}

}  // namespace

NftPolicies::NftPolicies(const DiversionPlan& plan) : NftPolicies{plan, "", match_rules} {}

NftPolicies NftPolicies::of_held(const DiversionPlan& plan) { return {plan, "hold_", hold_rules}; }

NftPolicies::NftPolicies(const DiversionPlan& plan, std::string prefix, RulesOf rules)
    : plan_{plan}, prefix_{std::move(prefix)} {
  const std::string to = "goto " + prefix_ + "policies_";
  chains_.push_back({prefix_ + "policies", "",
                     plan.ipv6 ? "    ip6 saddr " + std::string{kLinkLocal} +
                                     " return\n    meta nfproto vmap { ipv4 : " + to + "ipv4, ipv6 : " + to +
                                     "ipv6 }\n"
                               : "    meta nfproto ipv4 " + to + "ipv4\n"});
  add_family(rules(plan, Family::ipv4), Family::ipv4);
  if (plan.ipv6) add_family(rules(plan, Family::ipv6), Family::ipv6);
}

void NftPolicies::add_family(const std::vector<MatchRule>& rules, Family family) {
  const std::string chain = prefix_ + "policies_" + std::string{name_of(family)};
  const RuleIndex index = index_rules(rules, family);
  std::string body;
  if (index.by == IndexBy::nothing) {
    for (const MatchRule& rule : rules) body += rule_line(rule, family);
    return chains_.push_back({chain, "", body});
  }
  std::vector<std::string> targets;
  for (const auto& list : index.lists) targets.push_back(target(rules, list, index.by, family));
  NftTable::Set single = address_map(prefix_, index.by, family, "_single", "");
  NftTable::Set ranges = address_map(prefix_, index.by, family, "_ranges", "    flags interval\n");
  for (const auto& [first, last, list] : joined(index.regions, targets))
    (first == last ? single : ranges).elements.push_back({print_range(first, last), targets[list]});
  for (NftTable::Set* map : {&single, &ranges}) {
    if (map->elements.empty()) continue;
    body += "    " + selector(family, side(index.by)) + " vmap @" + map->name + "\n";
    sets_.push_back(std::move(*map));
  }
  chains_.push_back({chain, "", body});
}

// The chain that an address is sent to, given the rules that it can meet: lists that say the same are one.
std::string NftPolicies::target(const std::vector<MatchRule>& rules, const std::vector<std::size_t>& list,
                                IndexBy by, Family family) {
  const MatchRule only = without_key(rules[list.front()], by);
  if (only.matches_all()) return chain_of(only);
  std::string body;
  for (const std::size_t i : list) body += rule_line(without_key(rules[i], by), family);
  const auto [chain, is_new] = name(prefix_ + std::string{name_of(family)}, body);
  if (is_new) chains_.push_back({chain, "", body});
  return chain;
}

// Empty: back to who asked.
std::string NftPolicies::chain_of(const MatchRule& rule) const {
  if (!rule.listener_class) return {};
  return prefix_.empty() ? class_chain(plan_.ports.at(*rule.listener_class)) : hold_chain(plan_);
}

std::string NftPolicies::verdict(const MatchRule& rule) const {
  const std::string chain = chain_of(rule);
  return chain.empty() ? "return" : "goto " + chain;
}

std::string NftPolicies::rule_line(const MatchRule& rule, Family family) {
  const std::string type = address_type(family);
  std::string line = "    ";
  line += condition(selector(family, "daddr"), type, print_all(rule.to));
  line += condition("tcp dport", "inet_service", print_all(rule.ports));
  line += condition(selector(family, "saddr"), type, print_all(rule.from));
  return line + verdict(rule) + "\n";
}

std::string NftPolicies::condition(const std::string& what, const std::string& type,
                                   const std::vector<std::string>& values) {
  if (values.empty()) return {};
  if (values.size() == 1) return what + " " + values.front() + " ";
  const std::string stem = prefix_ + (type == "inet_service" ? "ports" : "addresses");
  const auto [set, is_new] = name(stem, join(values));
  if (is_new) {
    std::vector<NftTable::Element> elements;
    for (const std::string& value : values) elements.push_back({value, {}});
    sets_.push_back({set, "set", "    type " + type + "\n    flags interval\n", std::move(elements)});
  }
  return what + " @" + set + " ";
}

std::pair<std::string, bool> NftPolicies::name(std::string_view stem, const std::string& content) {
  std::string name = name_for(stem, content);
  while (true) {
    const auto [known, is_new] = content_of_.try_emplace(name, content);
    if (known->second == content) return {name, is_new};
    name += "_";  // somebody else's number
  }
}

}  // namespace headrace
