// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/doctor/checks.hpp"

#include <algorithm>
#include <array>

#include "proxy/doctor/judge.hpp"

namespace headrace::doctor {
namespace {

constexpr auto host = Needs::host;
constexpr auto configured = Needs::configuration;

constexpr std::array kChecks{
    Check{"facts", host, readable},
    Check{"capabilities", host, capabilities},
    Check{"kernel_rules", configured, kernel_rules},
    Check{"kernel_options", configured, kernel_options},
    Check{"syn_queue", configured, syn_queue},
    Check{"congestion", host, congestion},
    Check{"idle_restart", host, idle_restart},
    Check{"interfaces", configured, interfaces},
    Check{"bridge_vrf", configured, bridges_and_vrfs},
    Check{"br_netfilter", host, bridge_filter},
    Check{"ip_forward", host, forwarding},
    Check{"ipv6", configured, ipv6},
    Check{"rp_filter", host, reverse_path},
    Check{"src_valid_mark", host, valid_mark},
    Check{"route", configured, routing},
    Check{"ip_rules", configured, foreign_ip_rules},
    Check{"diversion", configured, diversion},
    Check{"syn_path", configured, syn_path},
    Check{"earlier_rules", configured, earlier_chains},
    Check{"input_rules", configured, input_chains},
    Check{"marks", configured, mark_bits},
    Check{"source_nat", configured, source_nat},
    Check{"destination_nat", host, destination_nat},
    Check{"multipath", host, several_routes},
    Check{"asymmetry", configured, both_ways},
    Check{"mtu", host, segment_sizes},
    Check{"path_mtu", configured, path_mtu},
    Check{"lro", host, large_receive},
    Check{"pacing", host, pacing},
    Check{"syn_cookies", host, syn_cookies},
    Check{"listen_queue", host, accept_queues},
    Check{"somaxconn", host, backlog},
    Check{"tcp_migrate_req", host, queued_connections},
    Check{"conntrack", host, conntrack},
    Check{"descriptors", host, descriptors},
    Check{"listener_ports", configured, local_ports},
    Check{"port_reuse", host, port_reuse},
    Check{"buffers", host, buffers},
    Check{"pipes", host, pipes},
};

}  // namespace

std::string_view print(Status status) {
  constexpr std::array<std::string_view, 3> kWords{"ok", "warn", "fail"};
  return kWords.at(static_cast<std::size_t>(status));
}

std::span<const Check> checks() { return kChecks; }

std::vector<Finding> examine(const Subject& subject) {
  std::vector<Finding> findings;
  for (const Check& check : kChecks) {
    if (check.needs == Needs::configuration && subject.configuration == nullptr) continue;
    Finding finding = check.judge(subject);
    finding.name = check.name;
    findings.push_back(std::move(finding));
  }
  return findings;
}

bool all_well(const std::vector<Finding>& findings) {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& one) { return one.status == Status::fail; });
}

std::string print(const Finding& finding) {
  constexpr std::array<std::string_view, 3> kColumn{"ok  ", "warn", "FAIL"};
  std::string line{kColumn.at(static_cast<std::size_t>(finding.status))};
  line += " " + finding.name + ": " + finding.text;
  if (!finding.mend.empty()) line += ". Mend: " + finding.mend;
  return line;
}

}  // namespace headrace::doctor
