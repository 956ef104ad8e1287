// SPDX-License-Identifier: GPL-3.0-or-later
// Checks of the routing rules and packet filters beside ours.
#include <algorithm>

#include "deploy/marks.hpp"
#include "deploy/net_plan.hpp"
#include "proxy/doctor/judge.hpp"
#include "proxy/doctor/rule_text.hpp"

namespace headrace::doctor {
namespace {

constexpr int kMangle = -150;
constexpr int kDestinationNat = -100;

// Where our rules look at what comes in.
int our_priority(const InterceptSettings& intercept) {
  if (intercept.firewall == Firewall::nft) return kDestinationNat + 1;
  return intercept.mode == InterceptMode::redirect ? kDestinationNat : kMangle;
}

std::string place(const FilterChain& chain, const std::string& rule) {
  return chain.tool + " " + chain.table + " " + chain.name + ": " + rule;
}

// Calls `judge` with every rule that isn't ours.
template <class Judge>
void each_rule(const Facts& facts, Judge&& judge) {
  for (const FilterChain& chain : facts.chains) {
    for (const std::string& rule : chain.rules) {
      if (!is_ours(rule)) judge(chain, rule);
    }
  }
}

// The worst of what was found, all of it in one line.
Finding report(const std::vector<std::string>& bad, const std::vector<std::string>& odd,
               const std::string& why, const std::string& mend, const std::string& fine) {
  if (!bad.empty()) return failure(why + ": " + join(bad, "; "), mend);
  if (!odd.empty()) return warning(why + " (for what these rules match): " + join(odd, "; "), mend);
  return good(fine);
}

bool drops(const std::string& rule) { return does(rule, "drop", "DROP") || does(rule, "reject", "REJECT"); }

std::string family_of(Family family) { return family == Family::ipv4 ? "-4" : "-6"; }

// Whether a diverted packet meets this rule before ours.
bool catches_ours(const IpRule& rule, const DivertRoute& ours) {
  if (rule.preference >= ours.preference || rule.table == std::to_string(ours.table)) return false;
  if (rule.table == "255" || rule.table == "local") return false;
  return !rule.mark || (ours.mark.mark & rule.mark->mask) == rule.mark->mark;
}

bool applies_to(const Configuration& configuration, const NatScope& scope) {
  if (!scope.source) return true;
  const auto& policies = configuration.policies->policies();
  return std::any_of(policies.begin(), policies.end(), [&](const Policy& policy) {
    if (policy.decision.action != Action::accelerate || policy.decision.connect_as == ConnectAs::proxy)
      return false;
    return std::any_of(policy.match.from.begin(), policy.match.from.end(), [&](const Prefix& from) {
      return from.contains(*scope.source) || scope.source->contains(from);
    });
  });
}

}  // namespace

Finding routing(const Subject& subject) {
  if (subject.intercept().mode == InterceptMode::off)
    return good("intercept.mode is off: no rule and no route");
  const auto& missing = subject.facts.route_differences;
  if (missing.empty()) return good("rule, route and sysctls of net up are in place");
  return failure(join(missing, "; "), "headrace net up");
}

Finding foreign_ip_rules(const Subject& subject) {
  const auto plan = plan_host(subject.settings(), subject.facts.has_ipv6);
  if (!plan.route) return good("intercept.mode needs no ip rule");
  std::vector<std::string> bad;
  std::vector<std::string> odd;
  std::string mend;
  for (const IpRule& rule : subject.facts.ip_rules) {
    const std::string text = std::to_string(rule.preference) + ": " + rule.text;
    if (catches_ours(rule, *plan.route)) {
      (rule.selects ? odd : bad).push_back(text);
      if (mend.empty())
        mend = "ip " + family_of(rule.family) + " rule del pref " + std::to_string(rule.preference) +
               ", and add it again behind " + std::to_string(plan.route->preference);
    } else if (rule.mark && rule.preference > plan.route->preference &&
               (subject.intercept().mark.server_mark() & rule.mark->mask) == rule.mark->mark) {
      odd.push_back(text + " (takes our server legs)");
      if (mend.empty()) mend = "another intercept.mark";
    }
  }
  return report(bad, odd, "ip rules catch diverted packets before ours", mend,
                "no ip rule comes before ours");
}

Finding diversion(const Subject& subject) {
  const InterceptSettings& intercept = subject.intercept();
  const Daemon& daemon = subject.facts.daemon;
  if (intercept.mode == InterceptMode::off) return good("intercept.mode is off: nothing is diverted");
  if (daemon.answers && daemon.rules_present) return good("the daemon runs and its rules are there");
  if (daemon.answers)
    return failure("the daemon runs but its rules are gone: nothing is intercepted",
                   "headrace reload; and find out who flushes them");
  if (!daemon.rules_present)
    return warning("no daemon answers at " + subject.settings().admin.socket + ": nothing is intercepted",
                   "headrace run");
  if (intercept.firewall == Firewall::iptables)
    return failure("rules are there and no daemon: TPROXY of iptables drops every new flow",
                   "headrace net down && headrace net up");
  return warning("rules are there and no daemon: new flows go straight to the server",
                 "headrace run, or headrace net down");
}

Finding earlier_chains(const Subject& subject) {
  const int ours = our_priority(subject.intercept());
  std::vector<std::string> bad;
  std::vector<std::string> odd;
  for (const FilterChain& chain : subject.facts.chains) {
    if (chain.hook != "prerouting") continue;
    const bool earlier = chain.priority <= ours;
    if (earlier && chain.policy == "drop") odd.push_back(place(chain, "policy drop"));
    bool before_our_jump = chain.tool != "nft" && chain.table == "mangle";
    for (const std::string& rule : chain.rules) {
      if (is_ours(rule)) before_our_jump = false;
      // The mark leads back through lo, so such a filter finds no way to the sender.
      if (rule.find("fib saddr . mark") != std::string::npos && rule.find("drop") != std::string::npos)
        bad.push_back(place(chain, rule));
      else if (earlier && does(rule, "tproxy", "TPROXY") && !is_ours(rule))
        odd.push_back(place(chain, rule));
      else if (earlier && (drops(rule) || (before_our_jump && does(rule, "accept", "ACCEPT"))) &&
               rule.find("invalid") == std::string::npos && rule.find("INVALID") == std::string::npos)
        (is_unconditional(rule) ? bad : odd).push_back(place(chain, rule));
      else if (earlier && does(rule, "notrack", "NOTRACK"))
        odd.push_back(place(chain, rule));
    }
  }
  return report(bad, odd, "packets are taken before or from under our rules",
                "move these rules to the forward hook, or exempt TCP from them",
                "no other prerouting rule drops, accepts or diverts before ours");
}

// What is diverted is delivered here: the input hook sees it, with the client's and the server's addresses.
Finding input_chains(const Subject& subject) {
  const auto& [mark, mask] = subject.intercept().mark;
  if (subject.intercept().mode != InterceptMode::tproxy) return good("nothing is diverted by mark");
  std::vector<std::string> bad;
  std::vector<std::string> odd;
  for (const FilterChain& chain : subject.facts.chains) {
    if (chain.hook != "input" || chain.policy != "drop") continue;
    bool allows = false;
    bool may_allow = false;
    for (const std::string& rule : chain.rules) {
      if (does(rule, "accept", "ACCEPT") && (tests_mark(rule, mark) || is_unconditional(rule))) allows = true;
      if (rule.find("dport") != std::string::npos || rule.find("jump") != std::string::npos ||
          (rule.find("-j ") != std::string::npos && !does(rule, "accept", "ACCEPT") && !drops(rule)))
        may_allow = true;
    }
    if (!allows) (may_allow ? odd : bad).push_back(place(chain, "policy drop"));
  }
  return report(bad, odd,
                "diverted packets are delivered to this host, and an input chain drops what it does not know",
                "nft insert rule inet TABLE input meta mark '&' " + print_hex(mask) +
                    " == " + print_hex(mark) + " accept, or iptables -I INPUT -m mark --mark " +
                    print_hex(mark) + "/" + print_hex(mask) + " -j ACCEPT",
                "no input chain drops what is diverted");
}

// Measured: our mark set by others leaves sessions alone, but what is only forwarded then ends at this host;
// a whole mark written after ours by every packet ends interception, before ours it does no harm.
Finding mark_bits(const Subject& subject) {
  const auto& [mark, mask] = subject.intercept().mark;
  const int ours = our_priority(subject.intercept());
  std::vector<std::string> bad;
  std::vector<std::string> odd;
  each_rule(
      subject.facts, [&, mark_value = mark, bits = mask](const FilterChain& chain, const std::string& rule) {
        if (const auto change = mark_change(rule); change && (change->bits & bits) != 0) {
          const bool makes_ours = !change->from_connection && (change->value & bits) == mark_value;
          const bool wipes = chain.hook == "prerouting" && chain.priority > ours && is_unconditional(rule);
          (makes_ours || wipes ? bad : odd).push_back(place(chain, rule));
        } else if (drops(rule) && tests_mark(rule, mark_value)) {
          odd.push_back(place(chain, rule));
        }
      });
  return report(bad, odd, "other rules use bits of " + print_hex(mask) + ", intercept.mark's mask",
                "another intercept.mark, or a mask in those rules",
                "nobody else uses the bits of intercept.mark");
}

// Measured: a masqueraded leg that keeps the client's address times out; connect_as = "proxy" works.
Finding source_nat(const Subject& subject) {
  if (!spoofs(*subject.configuration)) return good("no server leg keeps the client's address");
  std::vector<std::string> bad;
  std::vector<std::string> odd;
  each_rule(subject.facts, [&](const FilterChain& chain, const std::string& rule) {
    if (!does(rule, "masquerade", "MASQUERADE") && !does(rule, "snat", "SNAT")) return;
    const NatScope scope = nat_scope(rule);
    if (!scope.out_interface.empty() && is_named(subject.intercept(), scope.out_interface)) return;
    const bool certain = !scope.limited && applies_to(*subject.configuration, scope);
    (certain ? bad : odd).push_back(place(chain, rule));
  });
  return report(
      bad, odd, "a server leg that keeps the client's address and is translated here times out",
      "connect_as = \"proxy\" in the policies for servers behind it, or exempt them from the translation",
      "no source translation on this host meets a server leg");
}

// Measured: what is translated in front of our rules is taken with the translated address (tproxy) or left to
// the kernel (redirect), and works. Behind tproxy rules the handshake's ACK finds no listener, and the
// connection is reset; behind redirecting ones the server leg knows the untranslated address only.
Finding destination_nat(const Subject& subject) {
  const InterceptSettings intercept =
      subject.configuration != nullptr ? subject.intercept() : InterceptSettings{};
  std::vector<std::string> before;
  std::vector<std::string> odd;
  each_rule(subject.facts, [&](const FilterChain& chain, const std::string& rule) {
    if (!does(rule, "dnat", "DNAT") || chain.hook == "output") return;
    const bool is_before = chain.priority < our_priority(intercept);
    (is_before ? before : odd).push_back(place(chain, rule));
  });
  if (!odd.empty())
    return warning(
        "destinations are translated here after our rules look: what a policy takes of them is reset, or "
        "reaches "
        "nobody: " +
            join(odd, "; "),
        "intercept.never for the addresses before translation, or headrace behind the translating host");
  if (before.empty()) return good("no destination is translated on this host");
  const std::string where = join(before, "; ");
  if (intercept.mode == InterceptMode::redirect)
    return good("what is translated here already is never redirected: " + where);
  return good("policies see the address to which a destination is translated here: " + where);
}

}  // namespace headrace::doctor
