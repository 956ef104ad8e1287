// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/doctor/checks.hpp"

// What the checks share, and the checks themselves for the table. Private to proxy/doctor; pure.
namespace headrace::doctor {

inline Finding good(std::string text) { return {{}, Status::ok, std::move(text), {}}; }
inline Finding warning(std::string text, std::string mend = {}) {
  return {{}, Status::warn, std::move(text), std::move(mend)};
}
inline Finding failure(std::string text, std::string mend = {}) {
  return {{}, Status::fail, std::move(text), std::move(mend)};
}

std::string join(const std::vector<std::string>& parts, std::string_view between = ", ");

// Whether intercept.interfaces names this interface; a trailing * stands for any rest.
bool is_named(const InterceptSettings& intercept, std::string_view interface);
// "net.ipv4.conf.eth0/100.rp_filter": a dot within a name is written as a slash.
std::string interface_sysctl(const std::string& interface, std::string_view key);
// Some accelerating policy's server leg comes as the client.
bool spoofs(const Configuration& configuration);
// Names of accelerating policies for which `is` holds, quoted.
std::vector<std::string> policies_where(const Configuration& configuration, bool (*is)(const Decision&));
// A forwarder, or a policy whose server leg's port the kernel chooses.
bool takes_local_ports(const Configuration& configuration);
// Some policy names an IPv6 address, or any.
bool has_ipv6_policies(const Configuration& configuration);

// "this process" or "the daemon (pid 17)": whose privileges and descriptors were read.
std::string judged_process(const Facts& facts);

// check_host.cpp: this process and this kernel
Finding capabilities(const Subject& subject);
Finding kernel_rules(const Subject& subject);
Finding kernel_options(const Subject& subject);
Finding syn_queue(const Subject& subject);
Finding congestion(const Subject& subject);
Finding idle_restart(const Subject& subject);
Finding readable(const Subject& subject);

// check_network.cpp: interfaces and addresses
Finding interfaces(const Subject& subject);
Finding bridges_and_vrfs(const Subject& subject);
Finding bridge_filter(const Subject& subject);
Finding forwarding(const Subject& subject);
Finding ipv6(const Subject& subject);
Finding reverse_path(const Subject& subject);
Finding valid_mark(const Subject& subject);
Finding segment_sizes(const Subject& subject);
Finding large_receive(const Subject& subject);
Finding several_routes(const Subject& subject);
Finding both_ways(const Subject& subject);

// check_rules.cpp: what stands beside our rules
Finding routing(const Subject& subject);
Finding foreign_ip_rules(const Subject& subject);
Finding diversion(const Subject& subject);
Finding earlier_chains(const Subject& subject);
Finding input_chains(const Subject& subject);
Finding mark_bits(const Subject& subject);
Finding source_nat(const Subject& subject);
Finding destination_nat(const Subject& subject);

// check_paths.cpp: what becomes of packets on their way
Finding syn_path(const Subject& subject);
Finding pacing(const Subject& subject);
Finding path_mtu(const Subject& subject);

// check_limits.cpp: how much of it there is
Finding descriptors(const Subject& subject);
Finding local_ports(const Subject& subject);
Finding port_reuse(const Subject& subject);
Finding conntrack(const Subject& subject);
Finding syn_cookies(const Subject& subject);
Finding accept_queues(const Subject& subject);
Finding backlog(const Subject& subject);
Finding queued_connections(const Subject& subject);
Finding buffers(const Subject& subject);
Finding pipes(const Subject& subject);

}  // namespace headrace::doctor
