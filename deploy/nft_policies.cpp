// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/nft_policies.hpp"

#include <cstddef>

#include "deploy/address_sets.hpp"
#include "deploy/rule_index.hpp"

namespace headrace {
namespace {

std::string_view name_of(Family family) { return family == Family::ipv4 ? "ipv4" : "ipv6"; }
std::string selector(Family family, std::string_view side) {
  return std::string{family == Family::ipv4 ? "ip " : "ip6 "}.append(side);
}

std::string verdict(const MatchRule& rule) {
  return rule.listener_class ? "goto class_" + std::to_string(*rule.listener_class) : "return";
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

}  // namespace

NftPolicies::NftPolicies(const DiversionPlan& plan) {
  if (plan.ipv6) {
    add_chain("policies", "    meta nfproto vmap { ipv4 : goto policies_ipv4, ipv6 : goto policies_ipv6 }\n");
  } else {
    add_chain("policies", "    meta nfproto ipv4 goto policies_ipv4\n");
  }
  add_family(match_rules(plan, Family::ipv4), Family::ipv4);
  if (plan.ipv6) add_family(match_rules(plan, Family::ipv6), Family::ipv6);
}

void NftPolicies::add_family(const std::vector<MatchRule>& rules, Family family) {
  const std::string chain = std::string{"policies_"}.append(name_of(family));
  const RuleIndex index = index_rules(rules, family);
  std::string body;
  if (index.by == IndexBy::nothing) {
    for (const MatchRule& rule : rules) body += rule_line(rule, family);
    return add_chain(chain, body);
  }
  std::vector<std::string> targets;
  for (const auto& list : index.lists) {
    const MatchRule only = without_key(rules[list.front()], index.by);
    if (only.matches_all()) {
      targets.push_back(verdict(only));
      continue;
    }
    const std::string name = chain + "_" + std::to_string(targets.size());
    body.clear();
    for (const std::size_t i : list) body += rule_line(without_key(rules[i], index.by), family);
    add_chain(name, body);
    targets.push_back("goto " + name);
  }
  body = "    " + selector(family, index.by == IndexBy::to ? "daddr" : "saddr") + " vmap {\n";
  for (const auto& [first, last, list] : index.regions) {
    body.append("      ").append(print_range(first, last)).append(" : ").append(targets[list]).append(",\n");
  }
  add_chain(chain, body + "    }\n");
}

void NftPolicies::add_chain(const std::string& name, const std::string& body) {
  chains_.append("\n  chain ").append(name).append(" {\n").append(body).append("  }\n");
}

std::string NftPolicies::rule_line(const MatchRule& rule, Family family) {
  const std::string type = family == Family::ipv4 ? "ipv4_addr" : "ipv6_addr";
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
  const std::string elements = join(values);
  const std::string stem = type == "inet_service" ? "ports_" : "addresses_";
  const auto [at, is_new] = names_.try_emplace({type, elements}, stem + std::to_string(names_.size()));
  if (is_new) {
    sets_.push_back("  set " + at->second + " {\n    type " + type +
                    "\n    flags interval\n    elements = { " + elements + " }\n  }\n");
  }
  return what + " @" + at->second + " ";
}

std::string NftPolicies::sets() const {
  std::string text;
  for (const std::string& set : sets_) text += set;
  return text;
}

}  // namespace headrace
