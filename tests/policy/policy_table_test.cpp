// SPDX-License-Identifier: GPL-3.0-or-later
#include "policy/policy_table.hpp"

#include "tests/policy/policies.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace headrace::testing;

namespace {

const Policy* naive(const PolicyTable& table, const Flow& flow) {
  for (const Policy& policy : table.policies()) {
    if (policy.match.matches(flow)) return &policy;
  }
  return nullptr;
}

std::string decided(const PolicyTable& table, const Flow& flow) {
  const Policy* policy = table.decide(flow);
  return policy == nullptr ? "none" : policy->decision.policy;
}

// Policies of which many share a destination, so that the index by source is exercised too.
PolicyTable hub(Corner& corner, std::size_t count) {
  std::vector<Policy> policies(count);
  for (Policy& policy : policies) {
    policy.match = corner.match(3);
    if (corner.below(2) == 0) policy.match.to = prefixes({"0.0.0.0/0", "::/0"});
  }
  return PolicyTable{std::move(policies)};
}

}  // namespace

TEST_CASE("policies: the first match wins, not the closest") {
  const PolicyTable table{{policy("one host", {}, {"198.18.9.5"}, {{1521, 1521}}),
                           policy("net", {}, {"198.18.9.0/24"}), policy("host later", {}, {"198.18.9.6"}),
                           policy("branch", {"198.18.20.0/24"}, {"0.0.0.0/0"}),
                           policy("rest", {}, {"0.0.0.0/0", "::/0"}, {{20, 21}})}};
  CHECK(decided(table, flow("198.18.1.1", "198.18.9.5", 1521)) == "one host");
  CHECK(decided(table, flow("198.18.1.1", "198.18.9.5", 1522)) == "net");
  CHECK(decided(table, flow("198.18.1.1", "198.18.9.6", 1521)) == "net");
  CHECK(decided(table, flow("198.18.20.1", "203.0.113.1", 20)) == "branch");
  CHECK(decided(table, flow("198.18.1.1", "203.0.113.1", 20)) == "rest");
  CHECK(decided(table, flow("2001:db8::1", "2001:db8::2", 21)) == "rest");
  CHECK(decided(table, flow("198.18.1.1", "203.0.113.1", 22)) == "none");
}

TEST_CASE("policies: an empty table decides nothing") {
  CHECK(decided(PolicyTable{}, flow("::1", "::2", 1)) == "none");
}

TEST_CASE("policies: the index decides as a walk over the policies does") {
  Corner corner{20260101};
  for (int round = 0; round < 60; ++round) {
    std::vector<Policy> policies(1 + corner.below(40));
    for (Policy& policy : policies) policy.match = corner.match(round % 10 == 0 ? 40 : 3);
    const PolicyTable table{std::move(policies)};
    for (int i = 0; i < 200; ++i) {
      const Flow asked = corner.flow();
      REQUIRE(table.decide(asked) == naive(table, asked));
    }
  }
}

TEST_CASE("policies: hundreds that share a destination are decided as a walk does") {
  Corner corner{7};
  const PolicyTable table = hub(corner, 400);
  for (int i = 0; i < 3000; ++i) {
    const Flow asked = corner.flow();
    REQUIRE(table.decide(asked) == naive(table, asked));
  }
}

TEST_CASE("policies: a policy inside an earlier one can never match") {
  const auto shadow = [](const Policy& first, const Policy& second) {
    return PolicyTable::shadowed_by({first, second}, 1) != nullptr;
  };
  const auto wide = policy("wide", {}, {"198.18.0.0/15"});
  CHECK(shadow(wide, policy("same", {}, {"198.18.0.0/15"})));
  CHECK(shadow(wide, policy("inside", {"198.18.20.0/24"}, {"198.18.9.5", "198.19.0.0/16"}, {{1, 2}})));
  CHECK_FALSE(shadow(wide, policy("more", {}, {"198.18.9.5", "203.0.113.1"})));
  CHECK_FALSE(shadow(policy("from", {"198.18.20.0/24"}, {"198.18.0.0/15"}), wide));
  CHECK_FALSE(shadow(policy("ports", {}, {"198.18.0.0/15"}, {{1, 65534}}), wide));
  CHECK(shadow(policy("ports", {}, {"198.18.0.0/15"}, {{1, 100}, {101, 65535}}), wide));
  CHECK(shadow(policy("halves", {}, {"198.18.0.0/16", "198.19.0.0/17", "198.19.128.0/17"}), wide));
  CHECK_FALSE(shadow(policy("gap", {}, {"198.18.0.0/16", "198.19.0.0/17", "198.19.192.0/18"}), wide));
  CHECK(shadow(policy("any", {"0.0.0.0/0", "::/0"}, {"198.18.0.0/15"}), wide));
  CHECK_FALSE(shadow(policy("any IPv4", {"0.0.0.0/0"}, {"198.18.0.0/15"}), wide));
}

TEST_CASE("policies: all shadowed ones are found at once, with the first that takes their flows") {
  Corner corner{99};
  for (int round = 0; round < 40; ++round) {
    const PolicyTable table = hub(corner, 1 + corner.below(90));
    const auto& policies = table.policies();
    std::vector<const Policy*> by(policies.size(), nullptr);
    for (const auto& found : table.shadowed()) by[found.policy] = &policies[found.by];
    for (std::size_t i = 0; i < policies.size(); ++i) REQUIRE(by[i] == PolicyTable::shadowed_by(policies, i));
  }
}

TEST_CASE("policies: what a shadowed policy matches, an earlier one takes") {
  Corner corner{5};
  const PolicyTable table = hub(corner, 60);
  std::vector<bool> dead(table.policies().size(), false);
  for (const auto& found : table.shadowed()) dead[found.policy] = true;
  for (int i = 0; i < 5000; ++i) {
    const Policy* taken = table.decide(corner.flow());
    if (taken != nullptr) REQUIRE_FALSE(dead[table.index_of(*taken)]);
  }
}

TEST_CASE("policies: a moved table still decides") {
  PolicyTable first{{policy("only", {}, {"198.18.9.5"})}};
  const PolicyTable second{std::move(first)};
  CHECK(decided(second, flow("198.18.1.1", "198.18.9.5", 1)) == "only");
}
