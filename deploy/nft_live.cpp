// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/nft_live.hpp"

#include <algorithm>

#include "deploy/nft_held.hpp"

namespace headrace {
namespace {

bool leaves_failed(const DiversionPlan& plan) {
  return plan.settings.timeouts.failed_server && !plan.settings.intercept.interfaces.empty();
}

NftTable::Set failed_set(std::string_view name, std::string_view address) {
  return {std::string{name},
          "set",
          "    type " + std::string{address} + " . " + std::string{address} +
              " . inet_service\n    flags timeout\n    size " + std::to_string(kMostFailed) + "\n",
          {}};
}

bool follows_data(const PolicyTable& table) {
  const auto& policies = table.policies();
  return std::any_of(policies.begin(), policies.end(),
                     [](const Policy& policy) { return policy.decision.data != nullptr; });
}

}  // namespace

std::string_view expected_map(Family family) {
  return family == Family::ipv4 ? "expected_ipv4" : "expected_ipv6";
}

// Who could not reach which server and port a moment ago: workers write it (proxy/failed_servers).
std::vector<NftTable::Set> failed_sets(const DiversionPlan& plan) {
  if (!leaves_failed(plan)) return {};
  std::vector<NftTable::Set> sets{failed_set(kFailedIpv4, "ipv4_addr")};
  if (plan.ipv6) sets.push_back(failed_set(kFailedIpv6, "ipv6_addr"));
  return sets;
}

std::string failed_rules(const DiversionPlan& plan, const std::string& syn) {
  if (!leaves_failed(plan) || !takes_new_flows(plan)) return {};
  std::string body =
      line(syn + "ip saddr . ip daddr . tcp dport @" + std::string{kFailedIpv4} + " goto failed");
  if (plan.ipv6)
    body += line(syn + "ip6 saddr . ip6 daddr . tcp dport @" + std::string{kFailedIpv6} + " goto failed");
  return body;
}

std::string failed_repeats(const DiversionPlan& plan, const std::string& was_left) {
  if (!leaves_failed(plan) || !takes_new_flows(plan)) return {};
  return line(was_left + " ct status & seen-reply == 0 goto failed");
}

Chains failed_chain(const DiversionPlan& plan, const std::string& more) {
  if (!leaves_failed(plan) || !takes_new_flows(plan)) return {};
  return {{"failed", "", line(count(kSynFailedCounter) + more) + forget_held(plan)}};
}

// Room for one announced data connection of every session there can be.
std::vector<NftTable::Set> expected_maps(const DiversionPlan& plan) {
  std::vector<NftTable::Set> maps;
  if (!follows_data(plan.policies)) return maps;
  for (const Family family : {Family::ipv4, Family::ipv6}) {
    const std::string address = family == Family::ipv4 ? "ipv4_addr" : "ipv6_addr";
    maps.push_back({std::string{expected_map(family)},
                    "map",
                    "    type " + address + " . " + address +
                        " . inet_service : verdict\n    size 65536\n    flags timeout\n",
                    {}});
  }
  return maps;
}

std::string expected_flows(const DiversionPlan& plan, const std::string& condition) {
  if (!takes_new_flows(plan) || !follows_data(plan.policies)) return {};
  std::string text =
      line(condition + "ip saddr . ip daddr . tcp dport vmap @" + std::string{expected_map(Family::ipv4)});
  if (plan.ipv6)
    text += line(condition + "ip6 saddr . ip6 daddr . tcp dport vmap @" +
                 std::string{expected_map(Family::ipv6)});
  return text;
}

}  // namespace headrace
