// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/net_show.hpp"

#include "deploy/command.hpp"

namespace headrace {
namespace {

std::string host_part(const HostPlan& host) {
  std::string text = "# headrace net up: once, at boot. headrace net down undoes it.\n";
  for (const auto& argv : host.rules_and_routes) text += print_command(argv) + "\n";
  for (const auto& [name, value] : host.sysctls)
    text += print_command({"sysctl", "-w", name + "=" + value}) + "\n";
  if (host.rules_and_routes.empty() && host.sysctls.empty()) text += "# nothing\n";
  return text;
}

std::string here_document(const std::string& command, const std::string& input) {
  return input.empty() ? std::string{} : command + " <<'END'\n" + input + "END\n";
}

std::string diversion_part(const DiversionPlan& plan) {
  const InterceptSettings& intercept = plan.settings.intercept;
  std::string text = "\n# the daemon, while it runs: they come when it listens and go when it stops.\n";
  if (intercept.mode == InterceptMode::off) return text + "# nothing: intercept.mode is off\n";
  if (intercept.interfaces.empty()) text += "# intercept.interfaces is empty: no new flow is taken\n";
  if (intercept.firewall == Firewall::nft) {
    text += here_document("nft -f -", render_nft(plan));
    if (plan.queue_rule == QueueRule::nft) return text;
    const IptablesText beside = render_iptables_queue(plan);
    return text + here_document("iptables-restore --noflush -w 5", beside.ipv4) +
           here_document("ip6tables-restore --noflush -w 5", beside.ipv6);
  }
  const IptablesText rules = render_iptables(plan);
  return text + here_document("iptables-restore --noflush -w 5", rules.ipv4) +
         here_document("ip6tables-restore --noflush -w 5", rules.ipv6);
}

}  // namespace

std::string net_show(const HostPlan& host, const DiversionPlan& diversion) {
  return host_part(host) + diversion_part(diversion);
}

}  // namespace headrace
