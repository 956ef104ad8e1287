// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/rule_index.hpp"

#include <algorithm>
#include <random>

#include "deploy/address_sets.hpp"
#include "tests/deploy/given.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

bool contains(const std::vector<Prefix>& prefixes, const IpAddress& address) {
  return prefixes.empty() || std::any_of(prefixes.begin(), prefixes.end(), [&address](const Prefix& prefix) {
           return prefix.contains(address);
         });
}

std::optional<std::size_t> walk(const std::vector<MatchRule>& rules, const IpAddress& from,
                                const IpAddress& to) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (contains(rules[i].from, from) && contains(rules[i].to, to)) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> look_up(const RuleIndex& index, const std::vector<MatchRule>& rules,
                                   const IpAddress& from, const IpAddress& to) {
  const IpAddress& key = index.by == IndexBy::to ? to : from;
  for (const auto& [first, last, list] : index.regions) {
    if (key < first || last < key) continue;
    for (const std::size_t i : index.lists[list]) {
      if (contains(rules[i].from, from) && contains(rules[i].to, to)) return i;
    }
  }
  return std::nullopt;
}

using Random = std::mt19937;

IpAddress random_address(Random& random) {
  return IpAddress::v4(
      {198, 18, static_cast<std::uint8_t>(random() % 4), static_cast<std::uint8_t>(random() % 16)});
}

MatchRule random_rule(Random& random) {
  MatchRule rule;
  for (auto keys : {&MatchRule::from, &MatchRule::to}) {
    for (auto left = random() % 4; left > 0; --left) {
      (rule.*keys).push_back(Prefix{random_address(random), 16 + static_cast<unsigned>(random() % 17)});
    }
    rule.*keys = shortest(rule.*keys);
  }
  rule.listener_class = random() % 3;
  return rule;
}

TEST_CASE("rule index: the first match is the same as by walking the rules") {
  Random random{7};  // NOLINT: the same rules in every run
  int indexed = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<MatchRule> rules;
    for (int i = 0; i < 24; ++i) rules.push_back(random_rule(random));
    const RuleIndex index = index_rules(rules, Family::ipv4);
    if (index.by == IndexBy::nothing) continue;
    ++indexed;
    for (int probe = 0; probe < 50; ++probe) {
      const IpAddress from = random_address(random);
      const IpAddress to = random_address(random);
      INFO("round " << round << " " << print(from) << " to " << print(to));
      CHECK(look_up(index, rules, from, to) == walk(rules, from, to));
    }
  }
  CHECK(indexed > 20);
}

std::vector<MatchRule> distinct_rules(std::size_t count, std::vector<Prefix> MatchRule::*keys) {
  std::vector<MatchRule> rules(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto third = static_cast<std::uint8_t>(i >> 8);
    (rules[i].*keys) = {Prefix::host(IpAddress::v4({198, 18, third, static_cast<std::uint8_t>(i)}))};
    rules[i].listener_class = i % 2;
  }
  return rules;
}

TEST_CASE("rule index: policies with distinct destinations are found by destination") {
  const auto index = index_rules(distinct_rules(1000, &MatchRule::to), Family::ipv4);
  CHECK(index.by == IndexBy::to);
  CHECK(index.regions.size() == 1000);
}

TEST_CASE("rule index: a hub's branches with a policy each are found by source") {
  const auto index = index_rules(distinct_rules(1000, &MatchRule::from), Family::ipv4);
  CHECK(index.by == IndexBy::from);
}

TEST_CASE("rule index: few rules are walked") {
  CHECK(index_rules(distinct_rules(8, &MatchRule::to), Family::ipv4).by == IndexBy::nothing);
}

TEST_CASE("rule index: regions reach to both ends of the address space") {
  auto rules = distinct_rules(40, &MatchRule::to);
  rules.push_back({{}, {Prefix::host(IpAddress::v4({255, 255, 255, 255}))}, {}, 0});
  rules.push_back({{}, {Prefix::host(IpAddress::v4({0, 0, 0, 0}))}, {}, 0});
  rules.push_back({{}, {}, {}, 1});
  const auto index = index_rules(rules, Family::ipv4);
  REQUIRE(index.by == IndexBy::to);
  CHECK(print(index.regions.front().first) == "0.0.0.0");
  CHECK(print(index.regions.back().last) == "255.255.255.255");
  for (std::size_t i = 1; i < index.regions.size(); ++i) {
    CHECK(next(index.regions[i - 1].last) == index.regions[i].first);
  }
}

}  // namespace
}  // namespace headrace
