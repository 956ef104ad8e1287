// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/doctor/judge.hpp"

#include <algorithm>

namespace headrace::doctor {

std::string join(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) text.append(text.empty() ? "" : between).append(part);
  return text;
}

std::string judged_process(const Facts& facts) {
  if (facts.of_daemon) return "the daemon (pid " + std::to_string(facts.daemon.pid) + ")";
  return facts.daemon.answers ? "this process (the daemon's is not visible from here)" : "this process";
}

bool is_named(const InterceptSettings& intercept, std::string_view interface) {
  return std::any_of(intercept.interfaces.begin(), intercept.interfaces.end(), [&](std::string_view name) {
    return name.ends_with('*') ? interface.starts_with(name.substr(0, name.size() - 1)) : name == interface;
  });
}

std::string interface_sysctl(const std::string& interface, std::string_view key) {
  std::string name = interface;
  std::replace(name.begin(), name.end(), '.', '/');
  return "net.ipv4.conf." + name + "." + std::string{key};
}

std::vector<std::string> policies_where(const Configuration& configuration, bool (*is)(const Decision&)) {
  std::vector<std::string> names;
  for (const Policy& policy : configuration.policies->policies()) {
    if (policy.decision.action == Action::accelerate && is(policy.decision))
      names.push_back("\"" + policy.decision.policy + "\"");
  }
  return names;
}

bool spoofs(const Configuration& configuration) {
  return configuration.settings.intercept.mode == InterceptMode::tproxy &&
         !policies_where(configuration, [](const Decision& decision) {
            return decision.connect_as != ConnectAs::proxy;
          }).empty();
}

bool takes_local_ports(const Configuration& configuration) {
  return !configuration.settings.forwards.empty() ||
         !policies_where(configuration, [](const Decision& decision) {
            return decision.connect_as != ConnectAs::client;
          }).empty();
}

bool has_ipv6_policies(const Configuration& configuration) {
  const auto& policies = configuration.policies->policies();
  return std::any_of(policies.begin(), policies.end(), [](const Policy& policy) {
    return std::any_of(policy.match.to.begin(), policy.match.to.end(),
                       [](const Prefix& to) { return !to.base().is_v4(); });
  });
}

}  // namespace headrace::doctor
