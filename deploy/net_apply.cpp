// SPDX-License-Identifier: GPL-3.0-or-later
// `net up`, `net down` and what differs: rule, routes and sysctls. The diversion is in diversion.cpp.
#include "deploy/net_apply.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "deploy/command.hpp"
#include "deploy/host_state.hpp"
#include "deploy/marks.hpp"
#include "deploy/sysctl.hpp"

namespace headrace {
namespace {

using Json = nlohmann::json;

Json ip_json(Family family, std::vector<std::string> arguments) {
  std::vector<std::string> argv{"ip", "-json", "-N", family == Family::ipv4 ? "-4" : "-6"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const CommandResult result = run_command(argv);
  // A table that no route was ever added to "does not exist": status 2 and half an array.
  return result.ok() ? Json::parse(result.out, nullptr, false) : Json::array();
}

std::uint32_t number(const Json& rule, const char* key, std::uint32_t absent) {
  const auto found = rule.find(key);
  if (found == rule.end()) return absent;
  if (found->is_number_unsigned()) return found->get<std::uint32_t>();
  if (!found->is_string()) return absent;
  try {
    return static_cast<std::uint32_t>(std::stoul(found->get<std::string>(), nullptr, 0));
  } catch (const std::logic_error&) {
    return absent;
  }
}

bool has_rule(const DivertRoute& route, Family family) {
  const Json rules = ip_json(family, {"rule", "show"});
  return std::any_of(rules.begin(), rules.end(), [&route](const Json& rule) {
    return number(rule, "priority", 0) == route.preference && number(rule, "fwmark", 0) == route.mark.mark &&
           number(rule, "fwmask", UINT32_MAX) == route.mark.mask && number(rule, "table", 0) == route.table &&
           rule.value("src", "") == "all" && !rule.contains("iif") && !rule.contains("not");
  });
}

bool has_route(const DivertRoute& route, Family family) {
  const Json routes = ip_json(family, {"route", "show", "table", std::to_string(route.table)});
  return std::any_of(routes.begin(), routes.end(), [](const Json& entry) {
    const std::string type = entry.value("type", "");
    return (type == "local" || type == "2") && entry.value("dst", "") == "default" &&
           entry.value("dev", "") == "lo";
  });
}

std::vector<std::string> route_differences(const HostPlan& plan) {
  std::vector<std::string> found;
  if (!plan.route) return found;
  for (const Family family : plan.route->families) {
    const std::string of = family == Family::ipv4 ? "IPv4" : "IPv6";
    const std::string table = std::to_string(plan.route->table);
    if (!has_rule(*plan.route, family)) {
      found.push_back(of + " rule for fwmark " + print_hex(plan.route->mark.mark) + " to table " + table +
                      " is missing");
    }
    if (!has_route(*plan.route, family))
      found.push_back(of + " local route in table " + table + " is missing");
  }
  return found;
}

// Each command may find its rule or route gone already, so what counts is how things are afterwards.
void take_out(const DivertRoute& route) {
  for (const auto& argv : removal_of(route)) run_command(argv);
  for (const Family family : route.families) {
    if (has_rule(route, family) || has_route(route, family)) {
      throw std::runtime_error("the rule or route of fwmark " + print_hex(route.mark.mark) + ", table " +
                               std::to_string(route.table) + " is still there; is this run as root?");
    }
  }
}

std::string require_sysctl(const std::string& name) {
  auto value = read_sysctl(name);
  if (!value) throw std::runtime_error("sysctl " + name + ": this kernel or namespace has no such setting");
  return *value;
}

// What an earlier `net up` changed and this plan no longer asks for goes back first.
void restore_unwanted(const HostPlan& plan, HostState& state, const std::string& state_file) {
  const std::size_t before = state.originals.size();
  std::erase_if(state.originals, [&plan](const auto& original) {
    if (plan.sysctls.contains(original.first)) return false;
    write_sysctl(original.first, original.second);
    return true;
  });
  if (state.originals.size() != before) write_state(state_file, state);
}

// The one rule and route per family, whatever the families.
bool same_place(const DivertRoute& old, const std::optional<DivertRoute>& ours) {
  return ours && old.mark == ours->mark && old.table == ours->table && old.preference == ours->preference;
}

// Of `old` what `ours` does not want: all of it, or only the families that have gone from the host. What
// stays carries live sessions and is not touched.
DivertRoute replaced_part(DivertRoute old, const std::optional<DivertRoute>& ours) {
  if (!same_place(old, ours)) return old;
  std::erase_if(old.families, [&ours](Family family) {
    return std::find(ours->families.begin(), ours->families.end(), family) != ours->families.end();
  });
  return old;
}

// What an earlier `net up` installed by another mark or table. Before ours is put in: the two may share a
// table, and so its route.
void remove_replaced(const HostPlan& plan, HostState& state, const std::string& state_file) {
  const std::size_t before = state.routes.size();
  std::erase_if(state.routes, [&plan](const DivertRoute& old) {
    if (old == plan.route) return false;
    take_out(replaced_part(old, plan.route));
    return true;
  });
  if (state.routes.size() != before) write_state(state_file, state);
}

}  // namespace

bool net_up_replaces(const HostPlan& plan, const std::string& state_file) {
  const auto state = read_state(state_file);
  return state && std::any_of(state->routes.begin(), state->routes.end(),
                              [&plan](const DivertRoute& old) { return !same_place(old, plan.route); });
}

void net_up(const HostPlan& plan, const std::string& state_file) {
  const StateLock lock{state_file};
  HostState state = read_state(state_file).value_or(state_of_this_host());
  // Recorded once, by the first `net up`: after that the kernel shows our own values.
  for (const auto& [name, value] : plan.sysctls) {
    if (!state.originals.contains(name)) state.originals.emplace(name, require_sysctl(name));
  }
  if (plan.route && std::find(state.routes.begin(), state.routes.end(), *plan.route) == state.routes.end())
    state.routes.push_back(*plan.route);
  write_state(state_file, state);
  restore_unwanted(plan, state, state_file);
  remove_replaced(plan, state, state_file);
  for (const auto& [name, value] : plan.sysctls) {
    if (!same_sysctl_value(require_sysctl(name), value)) write_sysctl(name, value);
  }
  // `ip rule add` fails where the rule is already there, so what counts is how things are afterwards.
  std::string complaint;
  for (const auto& argv : plan.rules_and_routes) {
    const CommandResult result = run_command(argv);
    if (!result.ok()) complaint += print_command(argv) + ": " + result.err;
  }
  const auto missing = route_differences(plan);
  if (!missing.empty()) throw std::runtime_error("net up: " + missing.front() + "; " + complaint);
}

void net_down(const HostPlan& plan, const std::string& state_file) {
  const StateLock lock{state_file};
  const auto state = read_state(state_file);
  if (state) {
    for (const DivertRoute& route : state->routes) take_out(route);
  }
  // Without a record, or with one that has no routes yet: what the configuration says.
  if (plan.route && (!state || state->routes.empty())) take_out(*plan.route);
  if (state) {
    for (const auto& [name, value] : state->originals) {
      const auto now = read_sysctl(name);  // a setting may have gone with its module
      if (now && !same_sysctl_value(*now, value)) write_sysctl(name, value);
    }
  }
  remove_state(state_file);
}

std::vector<std::string> net_differences(const HostPlan& plan) {
  std::vector<std::string> found = route_differences(plan);
  for (const auto& [name, wanted] : plan.sysctls) {
    const auto value = read_sysctl(name);
    if (!value) {
      found.push_back(name + " does not exist here (wanted " + wanted + ")");
    } else if (!same_sysctl_value(*value, wanted)) {
      found.push_back(name + " is " + *value + " (wanted " + wanted + ")");
    }
  }
  return found;
}

std::vector<HostRoute> host_routes(bool ipv6) {
  auto routes = read_routes(require_command({"ip", "-4", "-o", "route", "show"}).out);
  if (!ipv6) return routes;
  for (HostRoute& route : read_routes(require_command({"ip", "-6", "-o", "route", "show"}).out))
    routes.push_back(std::move(route));
  return routes;
}

bool host_has_ipv6() {
  const auto disabled = read_sysctl("net.ipv6.conf.lo.disable_ipv6");
  return disabled && *disabled == "0";
}

}  // namespace headrace
