// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/net_plan.hpp"

#include <cstdio>

#include "deploy/marks.hpp"

namespace headrace {
namespace {

using Command = std::vector<std::string>;

// Behind the local table (0) and before everything that tools for VPNs and several uplinks usually add
// (from 1000 on): a diverted packet is ours whatever those would do with it.
constexpr std::uint32_t kPreference = 185;

Command rule_command(const DivertRoute& route, Family family, const std::string& verb) {
  return {"ip",     family == Family::ipv4 ? "-4" : "-6",
          "rule",   verb,
          "pref",   std::to_string(route.preference),
          "fwmark", print_hex(route.mark.mark) + "/" + print_hex(route.mark.mask),
          "lookup", std::to_string(route.table)};
}

Command route_command(const DivertRoute& route, Family family, const std::string& verb) {
  const bool is_v4 = family == Family::ipv4;
  return {"ip",    is_v4 ? "-4" : "-6",          "route", verb,
          "local", is_v4 ? "0.0.0.0/0" : "::/0", "dev",   "lo",
          "table", std::to_string(route.table)};
}

}  // namespace

std::string print_hex(std::uint32_t value) {
  char text[11];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

ServerMarks server_marks(const DiversionPlan& plan) {
  const MarkAndMask& marks = plan.settings.intercept.mark;
  ServerMarks out;
  // All of them always: a session may live on that was accepted under policies since replaced.
  for (std::uint32_t mark = marks.server_mark(); mark <= marks.last_server_mark(); mark += marks.step())
    out.all.insert(mark);
  const auto add = [&](const SharedTreatment& treatment) {
    if (!treatment) return;  // a bypass
    const std::uint32_t mark = marks.server_mark(treatment->settings);
    if (!treatment->settings.timestamps.value_or(true)) out.without_timestamps.insert(mark);
    if (!treatment->settings.sack.value_or(true)) out.without_sack.insert(mark);
  };
  for (const Policy& policy : plan.policies.policies()) {
    add(policy.decision.server_leg);
    if (policy.decision.data) add(policy.decision.data->active.server_leg);
  }
  return out;
}

std::vector<Command> removal_of(const DivertRoute& route) {
  std::vector<Command> commands;
  for (const Family family : route.families) {
    commands.push_back(rule_command(route, family, "del"));
    commands.push_back(route_command(route, family, "del"));
  }
  return commands;
}

HostPlan plan_host(const Settings& settings, bool ipv6) {
  HostPlan plan;
  const InterceptSettings& intercept = settings.intercept;
  plan.sysctls = settings.kernel;
  if (intercept.mode != InterceptMode::tproxy) return plan;
  DivertRoute route{intercept.mark, intercept.table, kPreference, {Family::ipv4}};
  if (ipv6) route.families.push_back(Family::ipv6);
  for (const Family family : route.families) {
    plan.rules_and_routes.push_back(route_command(route, family, "replace"));
    plan.rules_and_routes.push_back(rule_command(route, family, "add"));
  }
  plan.route = std::move(route);
  // Closing one of a class's listeners resets what is queued on it unless the kernel may move it to another
  // (measured: 10 of 10 reset without, 0 of 10 with).
  plan.sysctls.try_emplace("net.ipv4.tcp_migrate_req", "1");
  // With it accepted sockets take the mark that diverts, and their own packets come back to this host.
  plan.sysctls.try_emplace("net.ipv4.tcp_fwmark_accept", "0");
  return plan;
}

}  // namespace headrace
