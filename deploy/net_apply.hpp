// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "deploy/net_plan.hpp"
#include "deploy/route_metrics.hpp"

// Puts a plan into the kernel, takes it out and says what differs. Idempotent; survives a crash in between.
// With deploy/diversion.cpp the only code that runs ip, nft and iptables-restore. Control zone: throws
// std::runtime_error "attempt: reason"; leaves nothing half-applied that the next call would not mend.
namespace headrace {

// `net up` / `net down`: routes, rule, sysctls. What was there before is recorded in `state_file` (0600,
// written and synced before the change), so that `net_down` restores it, also after kill -9 in between. What
// an earlier `net up` installed by another mark or table goes, and with it the sessions that it carries.
void net_up(const HostPlan& plan, const std::string& state_file);
void net_down(const HostPlan& plan, const std::string& state_file);
// Whether `net_up` would take such a rule out.
bool net_up_replaces(const HostPlan& plan, const std::string& state_file);
// What is missing or different, one sentence each; empty: all is in place.
std::vector<std::string> net_differences(const HostPlan& plan);

// The diversion itself, owned by the running daemon.
struct AppliedDiversion {
  NftTable nft;                 // what the packet filter holds; empty under iptables
  bool counters_began = false;  // anew
};
// `before`: what the caller knows to be there. nft is then given only what differs (all of it, where that is
// refused). Where iptables fails, rules that were there are worth keeping only to whose they are: those of
// `before` are put back; a dead daemon's have no listeners, and the iptables form drops new flows for want of
// them, so they go.
AppliedDiversion apply_diversion(const DiversionPlan& plan, const AppliedDiversion* before = nullptr);
void remove_diversion(Firewall firewall);
bool diversion_present(Firewall firewall);

// Why this kernel and these programs can't put SYNs into a packet queue for accept = "verified"; empty: they
// can, or it can't be known without trying (tried in a network namespace of its own, which takes root).
std::string why_no_syn_queue(Firewall firewall);

// What puts SYNs into that queue for this plan here.
QueueRule queue_rule_for(const DiversionPlan& plan);

bool host_has_ipv6();
std::vector<HostRoute> host_routes(bool ipv6);  // of the main table; throws without `ip`

}  // namespace headrace
