// SPDX-License-Identifier: GPL-3.0-or-later
// Checks of this process and of what this kernel can do.
#include <algorithm>

#include "proxy/doctor/judge.hpp"

namespace headrace::doctor {
namespace {

bool paced(const Facts& facts, const LegTreatment& leg) {
  const auto& own = leg.settings.congestion;
  return (own ? own->name : facts.environment.default_congestion) == "bbr";
}

// A leg that was told to let a burst go at once. By name too: where this build or kernel cannot do the
// shipped profile's initial window, its bursts are still what it is for.
bool wants_bursts(const LegTreatment& leg) {
  const Profile& settings = leg.settings;
  return (settings.initial_window && settings.initial_window->count > 10) || settings.burst ||
         leg.profile.starts_with("wan-interactive");
}

bool has_burst_leg(const Decision& decision) {
  return wants_bursts(*decision.client_leg) || wants_bursts(*decision.server_leg);
}

}  // namespace

Finding readable(const Subject& subject) {
  const auto& unread = subject.facts.unread;
  if (unread.empty()) return good("everything of this host that matters could be read");
  return warning("could not look at everything: " + join(unread, "; "),
                 "run it as root, with iproute2 and nft installed");
}

Finding capabilities(const Subject& subject) {
  const Capabilities& have = subject.facts.capabilities;
  std::vector<std::string> missing;
  if (!have.net_admin)
    missing.emplace_back("CAP_NET_ADMIN (rules, routes, spoofed addresses, congestion control)");
  if (!have.net_raw) missing.emplace_back("CAP_NET_RAW (spoofed addresses)");
  const std::string mend = "run it as root, or give the unit AmbientCapabilities=";
  if (!missing.empty())
    return failure(judged_process(subject.facts) + " lacks " + join(missing),
                   mend + "CAP_NET_ADMIN CAP_NET_RAW");
  const auto first_port = subject.facts.number("net.ipv4.ip_unprivileged_port_start");
  if (!have.net_bind_service && first_port.value_or(1024) > 1) {
    return warning(judged_process(subject.facts) +
                       " lacks CAP_NET_BIND_SERVICE: clients that come from ports under 1024 (rsh, "
                       "FTP data) reach the server from another port",
                   mend + "CAP_NET_BIND_SERVICE");
  }
  // The daemon gives it up once its program is loaded; whether that worked is for kernel_options.
  if (subject.facts.of_daemon) return good(judged_process(subject.facts) + " has all it needs");
  if (!have.bpf) {
    return warning("this process lacks CAP_BPF: settings that need BPF programs are left out",
                   mend + "CAP_BPF");
  }
  return good("NET_ADMIN, NET_RAW, NET_BIND_SERVICE and BPF are here");
}

Finding kernel_rules(const Subject& subject) {
  if (subject.intercept().mode == InterceptMode::off)
    return good("intercept.mode is off: no rules are needed");
  const std::string tool = subject.intercept().firewall == Firewall::nft ? "nft" : "iptables";
  if (subject.facts.rules_refused.empty())
    return good(tool + " and this kernel take the rules of this configuration");
  return failure(tool + " does not take the rules of this configuration: " + subject.facts.rules_refused,
                 tool == "nft" ? "modprobe nft_tproxy nft_socket nft_fib_inet nft_ct"
                               : "modprobe xt_TPROXY xt_socket xt_connmark xt_CT");
}

Finding kernel_options(const Subject& subject) {
  std::vector<std::string> lost;
  for (const Problem& one : subject.configuration->warnings) lost.push_back(print(one));
  for (const std::string& one : subject.facts.refused_settings) lost.push_back(one);
  if (lost.empty()) return good("this kernel and process do every socket option that the policies ask for");
  return warning(join(lost, "; "), "headrace check, for the place; or leave those settings out");
}

// For accept = "verified".
Finding syn_queue(const Subject& subject) {
  const Facts& facts = subject.facts;
  if (!subject.configuration->policies->has_verified()) return good("no policy has accept = \"verified\"");
  if (!facts.no_syn_queue.empty()) return failure("accept = \"verified\" " + facts.no_syn_queue);
  const std::string queue = "packet queue " + std::to_string(subject.intercept().queue);
  if (!facts.syn_queue && !facts.daemon.answers) return good(queue + " is free: SYNs can be held");
  if (!facts.syn_queue)
    return failure("the daemon runs and nobody reads " + queue + ": SYNs are accepted early",
                   "restart the daemon");
  const std::string held = std::to_string(facts.syn_queue->waiting) + " SYNs are held in " + queue;
  if (facts.syn_queue->dropped == 0) return good(held);
  return warning(held + ", and " + std::to_string(facts.syn_queue->dropped) +
                     " passed by or were lost because it was not read in time",
                 "find what keeps the daemon's threads from running");
}

Finding congestion(const Subject& subject) {
  const Environment& here = subject.facts.environment;
  if (here.default_congestion != "bbr" && subject.configuration == nullptr)
    return good("the default is " + here.default_congestion);
  std::vector<std::string> names;
  if (subject.configuration != nullptr) {
    for (const Policy& policy : subject.configuration->policies->policies()) {
      const Decision& decision = policy.decision;
      if (decision.action != Action::accelerate) continue;
      const bool client = paced(subject.facts, *decision.client_leg);
      const bool burst_server =
          wants_bursts(*decision.server_leg) && paced(subject.facts, *decision.server_leg);
      if (client || burst_server) names.push_back("\"" + decision.policy + "\"");
    }
    if (names.empty())
      return good("no policy's bursts leave on bbr (the default is " + here.default_congestion + ")");
  }
  const std::string paces = "bbr paces bursts: an answer of 50,000 bytes takes 1.5 round trips for ever";
  if (names.empty())
    return warning("the default is bbr, and " + paces, "congestion = \"cubic\" in the profile");
  return warning(paces + ", here on the client or burst leg of " + join(names),
                 "congestion = \"cubic\" in the profile");
}

// Only a sysctl exists: after an idle RTO the window is the route's initial one again (B56).
Finding idle_restart(const Subject& subject) {
  const auto value = subject.facts.number("net.ipv4.tcp_slow_start_after_idle");
  if (!value) return good("this kernel has no tcp_slow_start_after_idle");
  if (*value == 0) return good("windows survive pauses (tcp_slow_start_after_idle = 0)");
  if (subject.configuration == nullptr) {
    return good("tcp_slow_start_after_idle = 1: windows shrink in pauses; policies for bursts want 0");
  }
  const auto names = policies_where(*subject.configuration, has_burst_leg);
  if (names.empty()) return good("no policy asks for bursts after pauses");
  return warning("tcp_slow_start_after_idle = 1: after each pause the bursts of " + join(names) +
                     " start from 10 segments again, three round trips for 50,000 bytes",
                 "slow_start_after_idle = false under [kernel], then headrace net up");
}

}  // namespace headrace::doctor
