// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "config/load.hpp"
#include "deploy/net_apply.hpp"
#include "deploy/net_show.hpp"
#include "policy/listener_class.hpp"
#include "proxy/commands/commands.hpp"
#include "proxy/diversion_claim.hpp"

namespace headrace {
namespace {

// The ports that the daemon takes when it finds them free: the first of the range, in order.
ClassPorts expected_ports(const Settings& settings, const ListenerClasses& classes) {
  ClassPorts ports;
  for (std::size_t i = 0; i < classes.classes.size(); ++i)
    ports.push_back(static_cast<std::uint16_t>(settings.intercept.listener_ports.first + i));
  return ports;
}

int status(const HostPlan& host, const Settings& settings) {
  const auto differences = net_differences(host);
  for (const std::string& one : differences) std::printf("%s\n", one.c_str());
  if (differences.empty()) std::printf("routes, rules and sysctls are in place\n");
  std::printf("diversion: %s\n", diversion_present(settings.intercept.firewall) ? "present" : "absent");
  return differences.empty() ? 0 : 1;
}

// The daemon's own user is who its state directory belongs to.
bool may_be_the_daemon(const DiversionHolder& holder, const AdminSettings& admin) {
  if (!holder.process) return false;
  struct stat directory {};
  return holder.process->uid == 0 || holder.process->uid == ::geteuid() ||
         (::stat(admin.state_directory.c_str(), &directory) == 0 && directory.st_uid == holder.process->uid);
}

// Under a running daemon the routing rule would go from under its sessions, and its rules be put in again.
// Somebody else's hold on the claim is no daemon as long as there are no rules.
void require_no_daemon(const std::string& verb, const Settings& settings) {
  const auto holder = diversion_holder();
  if (!holder) return;
  if (!may_be_the_daemon(*holder, settings.admin) && !diversion_present(settings.intercept.firewall)) {
    std::fprintf(stderr, "headrace: %s holds the claim to divert, but no rules are there: going on\n",
                 print(*holder).c_str());
    return;
  }
  throw std::runtime_error{
      "a daemon intercepts here (" + print(*holder) +
      "), and its live sessions would be cut off. End it first (headrace drain, or stop its service); "
      "headrace bypass on takes it out of the way of new flows; headrace net " +
      verb + " --force cuts off all"};
}

// Needs no policies, so that broken ones can't keep anybody from taking it out.
int down(const std::string& file, bool force) {
  const Settings settings = salvage_settings(file);
  if (!force) require_no_daemon("down", settings);
  remove_diversion(settings.intercept.firewall);
  net_down(plan_host(settings, host_has_ipv6()), settings.intercept.state_file);
  return 0;
}

std::string offered_metrics(const PolicyTable& policies, bool ipv6) {
  if (!asks_for_route_metrics(policies)) return {};
  try {
    return route_metrics(policies, host_routes(ipv6));
  } catch (const std::runtime_error& error) {
    std::string why = error.what();
    std::replace(why.begin(), why.end(), '\n', ' ');
    return "\n# metrics of routes can't be offered: " + why + "\n";
  }
}

}  // namespace

int run_net(const std::string& file, const NetRequest& request) {
  const std::string& verb = request.verb;
  if (verb == "down") return down(file, request.force);
  const Configuration configuration = load_configuration(file);
  const Settings& settings = configuration.settings;
  const bool ipv6 = host_has_ipv6();
  const HostPlan host = plan_host(settings, ipv6);
  if (verb == "status") return status(host, settings);
  const ListenerClasses classes = group_into_classes(*configuration.policies);
  const ClassPorts ports = expected_ports(settings, classes);
  DiversionPlan diversion{settings, *configuration.policies, classes, ports, Diversion::on, ipv6};
  if (verb == "show") {
    if (settings.intercept.firewall == Firewall::nft) diversion.queue_rule = queue_rule_for(diversion);
    std::printf("%s%s", net_show(host, diversion).c_str(),
                offered_metrics(*configuration.policies, ipv6).c_str());
    return 0;
  }
  if (!request.force && net_up_replaces(host, settings.intercept.state_file))
    require_no_daemon("up", settings);
  net_up(host, settings.intercept.state_file);
  if (request.static_rules) apply_diversion(diversion);
  return 0;
}

}  // namespace headrace
