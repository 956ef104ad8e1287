// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "deploy/net_plan.hpp"

// Policies as a packet filter sees them: one family, first match wins, as few rules as say the same.
// Both rule forms (nft, iptables) are rendered from these. Pure.
namespace headrace {

// Which flows, and what becomes of them. An empty list is no condition; lists are in their shortest form.
struct MatchRule {
  std::vector<Prefix> from;
  std::vector<Prefix> to;
  std::vector<PortRange> ports;
  std::optional<std::size_t> listener_class;  // empty: left to the kernel, and the search ends

  bool matches_all() const { return from.empty() && to.empty() && ports.empty(); }
  bool operator==(const MatchRule&) const = default;
};

// The exemptions (port 179 and intercept.never), then the policies in order. Neighbours with one target are
// merged where the result is still one product of lists: equal in two of from, to, ports.
std::vector<MatchRule> match_rules(const DiversionPlan& plan, Family family);

// Whose SYNs are held until the server has answered: no flow's, or of these rules those with a class, all
// others being left alone. Without what stands behind the last of them.
bool holds_syns(const DiversionPlan& plan);
std::vector<MatchRule> hold_rules(const DiversionPlan& plan, Family family);

// Whether this class announces to clients what their servers announced to us.
inline bool mirrors(const ListenerClass& group) { return group.handshake.mss.mode == Mss::Mode::mirror; }
bool has_mirror(const DiversionPlan& plan);

// IPv6 senders that no router forwards: both forms leave them to the kernel, which tells them so.
inline constexpr const char* kLinkLocal = "fe80::/10";

// The interfaces without repetitions: a name that a wildcard covers would be a conflicting interval.
std::vector<std::string> distinct_interfaces(const std::vector<std::string>& interfaces);

}  // namespace headrace
