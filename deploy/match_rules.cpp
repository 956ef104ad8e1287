// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/match_rules.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "deploy/address_sets.hpp"

namespace headrace {
namespace {

// BGP is what TCP-MD5 and TCP-AO protect, and their signatures cover the ports and sequence numbers
// that a proxy replaces.
constexpr PortRange kBgp{179, 179};

std::vector<Prefix> of_family(const std::vector<Prefix>& prefixes, Family family) {
  std::vector<Prefix> kept;
  for (const Prefix& prefix : prefixes) {
    if (prefix.base().family() == family) kept.push_back(prefix);
  }
  return kept;
}

template <class List>
List without_everything(List list) {
  return is_everything(list) ? List{} : shortest(std::move(list));
}

// The rule of one match in one family, or nothing: `from` in one family and `to` in the other never meet.
std::optional<MatchRule> lower(const Match& match, Family family, std::optional<std::size_t> target) {
  auto from = of_family(match.from, family);
  auto to = of_family(match.to, family);
  if (to.empty() || (from.empty() && !match.from.empty())) return std::nullopt;
  return MatchRule{without_everything(std::move(from)), without_everything(std::move(to)),
                   without_everything(match.ports), target};
}

MatchRule lower(const Exemption& exemption) {
  MatchRule rule;
  if (exemption.to) rule.to = without_everything(std::vector<Prefix>{*exemption.to});
  if (exemption.ports) rule.ports = without_everything(std::vector<PortRange>{*exemption.ports});
  return rule;
}

std::vector<MatchRule> lower_all(const DiversionPlan& plan, Family family) {
  std::vector<MatchRule> rules;
  rules.push_back(lower(Exemption{std::nullopt, kBgp}));
  for (const Exemption& exemption : plan.settings.intercept.never) {
    if (!exemption.to || exemption.to->base().family() == family) rules.push_back(lower(exemption));
  }
  const auto& policies = plan.policies.policies();
  for (std::size_t i = 0; i < policies.size(); ++i) {
    if (auto rule = lower(policies[i].match, family, plan.classes.of_policy.at(i))) rules.push_back(*rule);
  }
  return rules;
}

// As many items a list may have that policies are joined into: a change of one of them changes the whole
// rule, and where so many rules follow each other they are found by address anyway (deploy/rule_index).
constexpr std::size_t kMostJoined = 64;

enum class Axis { none, from, to, ports };

// The one list in which two rules may differ so that their union is a rule again.
Axis mergeable(const MatchRule& left, const MatchRule& right) {
  if (left.listener_class != right.listener_class) return Axis::none;
  if (left.from == right.from && left.ports == right.ports) return Axis::to;
  if (left.from == right.from && left.to == right.to) return Axis::ports;
  if (left.to == right.to && left.ports == right.ports) return Axis::from;
  return Axis::none;
}

template <class List>
List union_of(const std::vector<MatchRule>& rules, std::size_t first, std::size_t end,
              List MatchRule::*list) {
  List all;
  for (std::size_t i = first; i < end; ++i) {
    const List& more = rules[i].*list;
    if (more.empty()) return {};
    all.insert(all.end(), more.begin(), more.end());
  }
  return without_everything(std::move(all));
}

MatchRule merged(const std::vector<MatchRule>& rules, std::size_t first, std::size_t end, Axis axis) {
  MatchRule rule = rules[first];
  if (axis == Axis::from) rule.from = union_of(rules, first, end, &MatchRule::from);
  if (axis == Axis::to) rule.to = union_of(rules, first, end, &MatchRule::to);
  if (axis == Axis::ports) rule.ports = union_of(rules, first, end, &MatchRule::ports);
  return rule;
}

std::size_t size_along(Axis axis, const MatchRule& rule) {
  if (axis == Axis::ports) return rule.ports.size();
  return axis == Axis::from ? rule.from.size() : rule.to.size();
}

std::vector<MatchRule> merge_neighbours(const std::vector<MatchRule>& rules) {
  std::vector<MatchRule> shorter;
  for (std::size_t first = 0; first < rules.size();) {
    std::size_t end = first + 1;
    const Axis axis = end < rules.size() ? mergeable(rules[first], rules[end]) : Axis::none;
    std::size_t size = size_along(axis, rules[first]);
    while (axis != Axis::none && end < rules.size() && mergeable(rules[first], rules[end]) == axis &&
           (size += size_along(axis, rules[end])) <= kMostJoined)
      ++end;
    shorter.push_back(merged(rules, first, end, axis));
    first = end;
  }
  return shorter;
}

bool covers(std::string_view pattern, std::string_view name) {
  if (pattern.empty() || pattern.back() != '*') return pattern == name;
  pattern.remove_suffix(1);
  return name.substr(0, pattern.size()) == pattern;
}

// Names reach a rule text between quotes; the loader has refused the rest with file and line already.
void require_plain(const std::string& name) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return c > ' ' && c < 127 && c != '"' && c != '\\' && c != '\'' && c != '!' && c != '/';
  });
  if (!plain) throw std::invalid_argument("interface \"" + name + "\": not an interface name");
}

}  // namespace

std::vector<MatchRule> match_rules(const DiversionPlan& plan, Family family) {
  auto rules = lower_all(plan, family);
  // Joining one list can make neighbours equal in two, so again until nothing joins.
  for (std::size_t before = rules.size() + 1; rules.size() < before;) {
    before = rules.size();
    rules = merge_neighbours(rules);
  }
  const auto last =
      std::find_if(rules.begin(), rules.end(), [](const MatchRule& r) { return r.matches_all(); });
  if (last != rules.end()) rules.erase(last + 1, rules.end());
  return rules;
}

bool holds_syns(const DiversionPlan& plan) {
  const InterceptSettings& intercept = plan.settings.intercept;
  return plan.diversion == Diversion::on && intercept.mode == InterceptMode::tproxy &&
         !intercept.interfaces.empty() && plan.policies.has_verified();
}

bool has_mirror(const DiversionPlan& plan) {
  const auto& classes = plan.classes.classes;
  const InterceptSettings& intercept = plan.settings.intercept;
  return intercept.mode == InterceptMode::tproxy && !intercept.interfaces.empty() &&
         std::any_of(classes.begin(), classes.end(), mirrors);
}

std::vector<MatchRule> hold_rules(const DiversionPlan& plan, Family family) {
  ListenerClasses held;
  for (const Policy& policy : plan.policies.policies())
    held.of_policy.push_back(is_verified(policy) ? std::optional<std::size_t>{0} : std::nullopt);
  auto rules = match_rules({plan.settings, plan.policies, held, plan.ports}, family);
  while (!rules.empty() && !rules.back().listener_class) rules.pop_back();
  return rules;
}

std::vector<std::string> distinct_interfaces(const std::vector<std::string>& interfaces) {
  std::vector<std::string> kept;
  for (const std::string& name : interfaces) {
    require_plain(name);
    const auto covered = [&name](const std::string& other) { return covers(other, name); };
    if (std::any_of(kept.begin(), kept.end(), covered)) continue;
    std::erase_if(kept, [&name](const std::string& other) { return covers(name, other); });
    kept.push_back(name);
  }
  return kept;
}

}  // namespace headrace
