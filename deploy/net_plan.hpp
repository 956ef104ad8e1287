// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "deploy/nft_table.hpp"
#include "policy/listener_class.hpp"
#include "policy/policy_table.hpp"

// What the kernel outside us must do, as values and as text. Pure: renders, applies nothing.
namespace headrace {

// Who is diverted at the moment.
enum class Diversion : std::uint8_t {
  on,        // new flows are diverted to their class
  sessions,  // only packets of live sessions (bypass, overload, drain): no new flow is taken
};

// Who puts SYNs into the packet queue for the nft form: nft itself, or, where its kernel has no `queue`, one
// rule of iptables beside it.
enum class QueueRule : std::uint8_t { nft, iptables };

// The local port on which each listener class listens, same index as ListenerClasses::classes.
using ClassPorts = std::vector<std::uint16_t>;

struct DiversionPlan {
  const Settings& settings;
  const PolicyTable& policies;
  const ListenerClasses& classes;
  const ClassPorts& ports;
  Diversion diversion = Diversion::on;
  bool ipv6 = true;  // false on hosts without IPv6
  QueueRule queue_rule = QueueRule::nft;
};

// Names that the running daemon uses of its own table. The sets hold client address . server address . port.
inline constexpr const char* kFailedIpv4 = "failed_ipv4";
inline constexpr const char* kFailedIpv6 = "failed_ipv6";
inline constexpr const char* kSynFailedCounter = "syn_failed";  // SYNs left to the kernel for these sets
// Elements of each, of about 100 bytes: 1.6 MB of the kernel's memory at most. Who fills it keeps others'
// retries from going direct, not from being served.
inline constexpr std::size_t kMostFailed = 16'384;

// And for its timed elements: the chain of a listener class, by its port (that stays over a reload, other
// than the class's place among the others), and the verdict map of the data connections that are expected
// (source address . destination address . port).
std::string class_chain(std::uint16_t listener_port);
std::string_view expected_map(Family family);

// Where SYNs that are held end: in nft's queue, or with the mark that the rule of iptables beside it queues
// by.
inline constexpr const char* kHoldByQueue = "hold_by_queue";
inline constexpr const char* kHoldByMark = "hold_by_mark";
inline std::string hold_chain(const DiversionPlan& plan) {
  return plan.queue_rule == QueueRule::nft ? kHoldByQueue : kHoldByMark;
}

// Table inet headrace, and the whole `nft -f` script that replaces it in one transaction.
NftTable nft_table(const DiversionPlan& plan);
std::string render_nft(const DiversionPlan& plan);

// The same in the form of `iptables-restore --noflush` (one text per family); chains named HEADRACE_*.
struct IptablesText {
  std::string ipv4;
  std::string ipv6;
};
// iptables replaces nothing by name, so both need what `iptables-save` and `ip6tables-save` print now
// (empty: none of our rules is there): what is ours in it goes in the same transaction.
IptablesText render_iptables(const DiversionPlan& plan, const IptablesText& saved = {});
// For the nft form with QueueRule::iptables: that one rule, and nothing else of ours.
IptablesText render_iptables_queue(const DiversionPlan& plan, const IptablesText& saved = {});
IptablesText render_iptables_removal(const IptablesText& saved);
// Back from what is saved `now` to what of ours was there `before`; empty for a family that is as it was.
IptablesText render_iptables_return(const IptablesText& before, const IptablesText& now);

// What needs root once, independent of the policies: rules, routes, sysctls.
// The `ip` commands add or replace exactly one rule and one route per family of `route`; without it (modes
// redirect and off) there are none.
struct DivertRoute {
  MarkAndMask mark;
  std::uint32_t table = 0;
  std::uint32_t preference = 0;
  std::vector<Family> families;
  bool operator==(const DivertRoute&) const = default;
};
std::vector<std::vector<std::string>> removal_of(const DivertRoute& route);  // argv of each `ip` command
struct HostPlan {
  std::optional<DivertRoute> route;
  std::vector<std::vector<std::string>> rules_and_routes;  // argv of each `ip` command that adds
  std::map<std::string, std::string> sysctls;              // full name -> wanted value
};
HostPlan plan_host(const Settings& settings, bool ipv6);

}  // namespace headrace
