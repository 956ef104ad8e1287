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

// The diversion itself, owned by the running daemon. Rules that were there before are worth keeping only to
// whose they are: a dead daemon's have no listeners, and the iptables form drops new flows for want of them.
enum class OnFailure : std::uint8_t { take_out, put_back };
void apply_diversion(const DiversionPlan& plan, OnFailure on_failure = OnFailure::take_out);
void remove_diversion(Firewall firewall);
bool diversion_present(Firewall firewall);

bool host_has_ipv6();
std::vector<HostRoute> host_routes(bool ipv6);  // of the main table; throws without `ip`

}  // namespace headrace
