// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/check.hpp"

#include "config/reader.hpp"
#include "policy/listener_class.hpp"

namespace headrace {
namespace {

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

void check_shadowed(const PolicyTable& table, std::vector<Problem>& problems) {
  for (const auto& shadowed : table.shadowed()) {
    const Policy& policy = table.policies()[shadowed.policy];
    const Policy& by = table.policies()[shadowed.by];
    problems.push_back({policy.where, "policy " + quoted(policy.decision.policy) +
                                          " can never match: " + quoted(by.decision.policy) + " (" +
                                          brief(by.where) + ") already takes all of it"});
  }
}

void check_listener_ports(const Configuration& configuration, std::vector<Problem>& problems) {
  const PortRange range = configuration.settings.intercept.listener_ports;
  const std::size_t ports = 1U + range.last - range.first;
  const auto& policies = configuration.policies->policies();
  const auto grouped = group_into_classes(*configuration.policies);
  if (grouped.classes.size() <= ports) return;
  const Policy& first = policies[grouped.classes[ports].policies.front()];
  problems.push_back(
      {first.where, "policy " + quoted(first.decision.policy) + " is one listener class too many: " +
                        std::to_string(grouped.classes.size()) + " classes for " + std::to_string(ports) +
                        " ports (widen intercept.listener_ports = " + quoted(print(range)) +
                        ", or let client legs agree in what the handshake fixes, here " +
                        quoted(grouped.classes[ports].key) + ")"});
}

// Servers take data from the control channel's peer alone (vsftpd, proftpd and pure-ftpd unless told
// otherwise).
void warn_of_two_faces(const Configuration& configuration, std::vector<Problem>& warnings) {
  if (configuration.settings.intercept.mode != InterceptMode::tproxy) return;
  for (const Policy& policy : configuration.policies->policies()) {
    if (policy.decision.data == nullptr) continue;
    const Decision& data = policy.decision.data->passive;
    if ((policy.decision.connect_as == ConnectAs::proxy) == (data.connect_as == ConnectAs::proxy)) continue;
    warnings.push_back({policy.where, "policy " + quoted(policy.decision.policy) + " connects as \"" +
                                          std::string{print(policy.decision.connect_as)} +
                                          "\", its data policy " + quoted(data.policy) + " as \"" +
                                          std::string{print(data.connect_as)} +
                                          "\": servers refuse data from another address than the control "
                                          "channel's (the same connect_as for both)"});
  }
}

// Timed elements are nft's; iptables has none without ipset.
void warn_of_iptables(const Configuration& configuration, std::vector<Problem>& warnings) {
  if (configuration.settings.intercept.firewall != Firewall::iptables) return;
  for (const Policy& policy : configuration.policies->policies()) {
    if (policy.decision.data == nullptr) continue;
    warnings.push_back({policy.where, "policy " + quoted(policy.decision.policy) +
                                          ": with intercept.firewall = \"iptables\" a data connection is "
                                          "taken only where a policy names its port and an interface in "
                                          "intercept.interfaces brings it; others go direct"});
  }
}

void warn_of_nothing(const Configuration& configuration, std::vector<Problem>& warnings) {
  const InterceptSettings& intercept = configuration.settings.intercept;
  const SourceLocation where{configuration.file, 0, 0};
  const bool wants = intercepts(configuration.settings);
  if (configuration.policies->policies().empty()) {
    if (wants) warnings.push_back({where, "there is no policy: intercepts nothing"});
  } else if (intercept.mode == InterceptMode::off) {
    warnings.push_back({where, "intercept.mode is \"off\": the policies are not used"});
  } else if (intercept.interfaces.empty()) {
    warnings.push_back({where,
                        "intercept.interfaces is empty: intercepts nothing (name where client traffic "
                        "arrives, like \"eth1\")"});
  }
}

}  // namespace

void check_whole(const Configuration& configuration, std::vector<Problem>& problems,
                 std::vector<Problem>& warnings) {
  check_shadowed(*configuration.policies, problems);
  check_listener_ports(configuration, problems);
  warn_of_nothing(configuration, warnings);
  warn_of_iptables(configuration, warnings);
  warn_of_two_faces(configuration, warnings);
}

}  // namespace headrace
