// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/match_rules.hpp"

#include "tests/deploy/given.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

// Without the rule for port 179, which always comes first.
std::vector<MatchRule> rules_of(const given::Host& host, Family family = Family::ipv4) {
  auto rules = match_rules(host.plan(), family);
  REQUIRE(!rules.empty());
  rules.erase(rules.begin());
  return rules;
}

std::vector<std::string> texts(const std::vector<Prefix>& prefixes) {
  std::vector<std::string> printed;
  for (const Prefix& prefix : prefixes) printed.push_back(print(prefix));
  return printed;
}

using Texts = std::vector<std::string>;

TEST_CASE("match rules: neighbours that differ in their destinations alone become one rule") {
  const given::Host host{
      {{{}, {"198.18.0.5"}, {"80"}}, {{}, {"198.18.0.7"}, {"80"}}, {{}, {"198.18.0.9"}, {"80"}}}};
  const auto rules = rules_of(host);
  REQUIRE(rules.size() == 1);
  CHECK(texts(rules[0].to) == Texts{"198.18.0.5", "198.18.0.7", "198.18.0.9"});
}

TEST_CASE(
    "match rules: policies are joined into lists of 64 at the most, and a policy's own list stays whole") {
  std::vector<given::PolicyText> policies;
  std::vector<std::string> many;
  for (int i = 0; i < 100; ++i) {
    many.push_back("198.18.0." + std::to_string(2 * i));
    policies.push_back({{}, {many.back()}, {"80"}});
  }
  const auto rules = rules_of(given::Host{policies});
  REQUIRE(rules.size() == 2);
  CHECK(rules[0].to.size() == 64);
  CHECK(rules_of(given::Host{{{{}, many, {"80"}}}}).size() == 1);
}

TEST_CASE("match rules: neighbours that differ in their ports alone become one rule") {
  const given::Host host{{{{}, {"198.18.0.5"}, {"80"}}, {{}, {"198.18.0.5"}, {"81-90"}}}};
  const auto rules = rules_of(host);
  REQUIRE(rules.size() == 1);
  CHECK(rules[0].ports == std::vector<PortRange>{{80, 90}});
}

TEST_CASE("match rules: neighbours that differ in two lists stay apart") {
  const given::Host host{{{{}, {"198.18.0.5"}, {"80"}}, {{}, {"198.18.0.7"}, {"81"}}}};
  CHECK(rules_of(host).size() == 2);
}

TEST_CASE("match rules: a policy of another class between two equal ones keeps them apart") {
  const given::Host host{
      {{{}, {"198.18.0.5"}, {}}, {{}, {"198.18.0.6"}, {}, "other"}, {{}, {"198.18.0.7"}, {}}}};
  const auto rules = rules_of(host);
  REQUIRE(rules.size() == 3);
  CHECK(rules[0].listener_class == 0U);
  CHECK(rules[1].listener_class == 1U);
  CHECK(rules[2].listener_class == 0U);
}

TEST_CASE("match rules: merging never moves a bypass") {
  const given::Host host{
      {{{}, {"198.18.0.5"}, {}, "bypass"}, {{}, {"198.18.0.6"}, {}, "bypass"}, {{}, {"any"}, {}}}};
  const auto rules = rules_of(host);
  REQUIRE(rules.size() == 2);
  CHECK_FALSE(rules[0].listener_class);
  CHECK(rules[0].to.size() == 2);
  CHECK(rules[1].matches_all());
}

TEST_CASE("match rules: from in one family and to in the other make no rule") {
  const given::Host host{{{{"198.18.0.0/16"}, {"2001:db8::1"}, {}}}};
  CHECK(rules_of(host, Family::ipv4).empty());
  CHECK(rules_of(host, Family::ipv6).empty());
}

TEST_CASE("match rules: any covers both families and is no condition") {
  const given::Host host{{{{}, {"any"}, {"1-65535"}}}};
  CHECK(rules_of(host, Family::ipv4).at(0).matches_all());
  CHECK(rules_of(host, Family::ipv6).at(0).matches_all());
}

TEST_CASE("match rules: overlapping and adjacent prefixes are joined") {
  const given::Host host{{{{}, {"198.18.4.0/24", "198.18.5.0/24", "198.18.4.7", "198.18.0.0/22"}, {}}}};
  CHECK(texts(rules_of(host).at(0).to) == Texts{"198.18.0.0/22", "198.18.4.0/23"});
}

TEST_CASE("match rules: exemptions come before every policy, each in its own family") {
  given::Host host{{{{}, {"any"}, {}}}};
  host.settings.intercept.never = {{given::prefixes({"198.18.9.9"}).front(), PortRange{22, 22}},
                                   {given::prefixes({"2001:db8::9"}).front(), std::nullopt}};
  const auto rules = rules_of(host);
  REQUIRE(rules.size() == 2);
  CHECK_FALSE(rules[0].listener_class);
  CHECK(texts(rules[0].to) == Texts{"198.18.9.9"});
  CHECK(rules[0].ports == std::vector<PortRange>{{22, 22}});
  CHECK(match_rules(host.plan(), Family::ipv4).front().ports == std::vector<PortRange>{{179, 179}});
}

TEST_CASE("match rules: nothing follows a rule that takes everything") {
  const given::Host host{{{{}, {"any"}, {}}, {{}, {"198.18.0.1"}, {}, "other"}}};
  CHECK(rules_of(host).size() == 1);
}

TEST_CASE("interfaces: a name that a wildcard covers is dropped") {
  CHECK(distinct_interfaces({"ppp0", "eth0", "ppp*", "eth0", "eth1"}) == Texts{"eth0", "ppp*", "eth1"});
  CHECK_THROWS(distinct_interfaces({"eth0\" accept"}));
}

}  // namespace
}  // namespace headrace
