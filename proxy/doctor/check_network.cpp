// SPDX-License-Identifier: GPL-3.0-or-later
// Checks of interfaces, forwarding and paths.
#include <algorithm>
#include <set>

#include "proxy/doctor/judge.hpp"

namespace headrace::doctor {
namespace {

bool exists(const Facts& facts, const std::string& pattern) {
  InterceptSettings one;
  one.interfaces = {pattern};
  return std::any_of(facts.interfaces.begin(), facts.interfaces.end(),
                     [&](const Interface& link) { return is_named(one, link.name); });
}

// An interface's own value or that of "all", whichever is greater, as the kernel takes rp_filter.
std::uint64_t effective(const Facts& facts, const std::string& interface, std::string_view key) {
  return std::max(facts.number("net.ipv4.conf.all." + std::string{key}).value_or(0),
                  facts.number(interface_sysctl(interface, key)).value_or(0));
}

std::string bracketed(const std::string& device) { return device.empty() ? "no route" : device; }

}  // namespace

Finding interfaces(const Subject& subject) {
  const auto& names = subject.intercept().interfaces;
  if (subject.intercept().mode == InterceptMode::off) return good("intercept.mode is off: forwarders only");
  if (names.empty()) {
    return warning("intercept.interfaces is empty: nothing is intercepted",
                   "interfaces = [\"eth1\"] under [intercept], where client traffic arrives");
  }
  std::vector<std::string> missing;
  std::vector<std::string> waiting;
  for (const std::string& name : names) {
    if (!exists(subject.facts, name)) (name.ends_with('*') ? waiting : missing).push_back(name);
  }
  std::vector<std::string> there;
  for (const Interface& link : subject.facts.interfaces) there.push_back(link.name);
  if (!missing.empty()) {
    return failure("intercept.interfaces names " + join(missing) + ", which this host does not have (" +
                       join(there) + ")",
                   "name the interface by which client traffic arrives");
  }
  for (const Interface& link : subject.facts.interfaces) {
    if (is_named(subject.intercept(), link.name) && !link.up)
      return warning(link.name + " is down", "ip link set " + link.name + " up");
  }
  if (!waiting.empty()) return warning("no interface matches " + join(waiting) + " yet");
  return good(join(names) + (names.size() == 1 ? " is here" : " are here"));
}

Finding bridges_and_vrfs(const Subject& subject) {
  for (const Interface& link : subject.facts.interfaces) {
    if (!is_named(subject.intercept(), link.name)) continue;
    if (link.kind == "vrf" || link.member_of == "vrf") {
      return failure(
          link.name + " is in a VRF, which is not supported: diverted packets are looked up in its own table",
          "ip link set " + link.name + " nomaster");
    }
    if (link.member_of == "bridge") {
      return failure(link.name + " is a port of the bridge " + link.master + ": what it brings arrives as " +
                         link.master + " or passes by below IP",
                     "interfaces = [\"" + link.master + "\"] under [intercept], if clients are routed by it");
    }
    if (link.kind == "bridge") {
      return warning(link.name +
                     " is a bridge: what is routed by it is intercepted, what it switches passes by "
                     "(not tested by us)");
    }
  }
  return good("no interface of intercept.interfaces is in a bridge or VRF");
}

Finding bridge_filter(const Subject& subject) {
  const Facts& facts = subject.facts;
  std::vector<std::string> on;
  for (const char* name : {"net.bridge.bridge-nf-call-iptables", "net.bridge.bridge-nf-call-ip6tables"}) {
    if (facts.number(name).value_or(0) != 0) on.push_back(std::string{name} + "=0");
  }
  if (on.empty()) return good("bridged packets do not meet IP rules");
  const bool bridges = std::any_of(facts.interfaces.begin(), facts.interfaces.end(),
                                   [](const Interface& link) { return link.kind == "bridge"; });
  if (!bridges) return good("br_netfilter is on, and there is no bridge");
  return warning(
      "br_netfilter takes what bridges switch through the IP rules: the flows of bridged hosts and "
      "containers can be diverted and die",
      "sysctl -w " + join(on, " "));
}

Finding forwarding(const Subject& subject) {
  const Facts& facts = subject.facts;
  if (subject.configuration != nullptr && subject.intercept().mode == InterceptMode::off)
    return good("intercept.mode is off: nothing needs to be forwarded");
  if (facts.number("net.ipv4.ip_forward").value_or(0) == 0) {
    return failure(
        "IPv4 forwarding is off: whatever headrace does not take is dropped, and all of it is when it stops",
        "sysctl -w net.ipv4.ip_forward=1");
  }
  if (!facts.has_ipv6 || facts.number("net.ipv6.conf.all.forwarding").value_or(0) != 0)
    return good(facts.has_ipv6 ? "IPv4 and IPv6 are forwarded" : "IPv4 is forwarded");
  const std::string text = "IPv6 forwarding is off";
  const std::string mend = "sysctl -w net.ipv6.conf.all.forwarding=1";
  if (subject.configuration == nullptr || !has_ipv6_policies(*subject.configuration))
    return good(text + "; IPv4 is forwarded");
  const auto& policies = subject.configuration->policies->policies();
  const bool named = std::any_of(policies.begin(), policies.end(), [](const Policy& policy) {
    return std::any_of(policy.match.to.begin(), policy.match.to.end(),
                       [](const Prefix& to) { return !to.base().is_v4() && to.length() > 0; });
  });
  if (named) return failure(text + ", and policies name IPv6 servers", mend);
  return warning(text + ": policies to \"any\" get IPv4 flows only", mend);
}

Finding ipv6(const Subject& subject) {
  const Facts& facts = subject.facts;
  const bool on = facts.has_ipv6 && facts.number("net.ipv6.conf.all.disable_ipv6").value_or(0) == 0;
  if (on) return good("this host speaks IPv6");
  if (!has_ipv6_policies(*subject.configuration))
    return good("this host has no IPv6, and no policy asks for it");
  return warning("this host has no IPv6: policies for IPv6 addresses, and to \"any\", get IPv4 flows only",
                 "sysctl -w net.ipv6.conf.all.disable_ipv6=0");
}

// Strict filtering alone does not break interception (measured: 1 everywhere, sessions work); it drops what
// arrives by another interface than the one that leads back.
Finding reverse_path(const Subject& subject) {
  std::vector<std::string> strict;
  std::vector<std::string> mend;
  for (const Interface& link : subject.facts.interfaces) {
    if (!link.up || effective(subject.facts, link.name, "rp_filter") != 1) continue;
    strict.push_back(link.name);
    mend.push_back(interface_sysctl(link.name, "rp_filter") + "=2");
  }
  if (strict.empty()) return good("no interface filters by strict reverse path");
  return warning(
      "strict (1) on " + join(strict) +
          ": packets that arrive by another interface than the one that leads back to their sender "
          "are dropped, so both directions must take the same way",
      "sysctl -w " + join(mend, " "));
}

// Measured: 1 on all, on the clients' or on the servers' interface: no connection; at every rp_filter value.
Finding valid_mark(const Subject& subject) {
  const Facts& facts = subject.facts;
  std::vector<std::string> names;
  std::vector<std::string> mend;
  if (facts.number("net.ipv4.conf.all.src_valid_mark").value_or(0) != 0) {
    names.emplace_back("all");
    mend.emplace_back("net.ipv4.conf.all.src_valid_mark=0");
  }
  for (const Interface& link : facts.interfaces) {
    const std::string name = interface_sysctl(link.name, "src_valid_mark");
    if (!link.up || facts.number(name).value_or(0) == 0) continue;
    names.push_back(link.name);
    mend.push_back(name + "=0");
  }
  if (names.empty()) return good("0 everywhere");
  return failure(
      "1 on " + join(names) +
          " (wg-quick sets it): diverted packets are dropped, since their mark leads to the local table",
      "sysctl -w " + join(mend, " "));
}

Finding segment_sizes(const Subject& subject) {
  std::set<unsigned> sizes;
  std::vector<std::string> each;
  for (const Interface& link : subject.facts.interfaces) {
    if (!link.up || link.kind == "bridge") continue;
    sizes.insert(link.mtu);
    each.push_back(link.name + " " + std::to_string(link.mtu));
  }
  if (sizes.size() < 2)
    return good("the interfaces have one MTU: " +
                (sizes.empty() ? std::string{"none is up"} : std::to_string(*sizes.begin())));
  const bool probes = subject.facts.number("net.ipv4.tcp_mtu_probing").value_or(0) != 0;
  const std::string text = "MTUs differ: " + join(each);
  if (probes) return good(text + "; tcp_mtu_probing is on");
  return warning(
      text +
          ". Each leg keeps to its own, but a path that also loses \"packet too big\" messages hangs "
          "on large answers",
      "sysctl -w net.ipv4.tcp_mtu_probing=1, or mss in the profile of that leg");
}

Finding large_receive(const Subject& subject) {
  std::vector<std::string> names;
  for (const Interface& link : subject.facts.interfaces) {
    if (link.large_receive) names.push_back(link.name);
  }
  if (names.empty()) return good("no interface merges received segments in hardware");
  return warning(
      "LRO is on: " + join(names) + "; what is only forwarded is merged beyond the MTU and dropped",
      "ethtool -K " + names.front() + " lro off");
}

Finding several_routes(const Subject& subject) {
  const Facts& facts = subject.facts;
  if (facts.next_hops < 2) return good("one default route");
  if (facts.number("net.ipv4.fib_multipath_hash_policy").value_or(0) == 1)
    return good("several default routes, chosen by ports too");
  return warning(std::to_string(facts.next_hops) +
                     " default routes, chosen by addresses alone: one host's flows all take one way, and two "
                     "boxes need equal policies (and seeds) to see both directions of a flow",
                 "sysctl -w net.ipv4.fib_multipath_hash_policy=1");
}

Finding both_ways(const Subject& subject) {
  if (!subject.facts.probe) return good("not asked (--probe CLIENT TO follows one flow both ways)");
  const Probe& probe = *subject.facts.probe;
  const std::string client = print(probe.client.address);
  const std::string to = print(probe.to.address);
  if (!probe.complaint.empty())
    return failure("no route between " + client + " and " + to + ": " + probe.complaint,
                   "ip route get " + (probe.client_device.empty() ? client : to));
  const std::string ways = client + " is reached by " + bracketed(probe.client_device) + ", " + to + " by " +
                           bracketed(probe.server_device);
  if (probe.server_device == "lo")
    return failure(to + " is this host itself: never intercepted", "name a server behind this host");
  if (probe.to.port != 0) {
    const Policy* policy = subject.configuration->policies->decide({{probe.client}, {probe.to}});
    if (policy == nullptr || policy->decision.action == Action::bypass)
      return failure("no policy accelerates " + client + " to " + print(probe.to),
                     "headrace explain --client " + client + " --to " + print(probe.to));
  }
  if (!is_named(subject.intercept(), probe.client_device)) {
    return failure(
        ways + ": intercept.interfaces does not name " + probe.client_device +
            ", so either nothing is intercepted or answers take another way than questions",
        "add \"" + probe.client_device + "\" to intercept.interfaces, or mend the route to " + client);
  }
  if (probe.server_device == probe.client_device)
    return warning(ways +
                   ": in and out by one interface, so the server may answer the client past this host");
  return good(
      ways +
      " (by the routes of this host alone: whether the server's answers come back here is for its routes)");
}

}  // namespace headrace::doctor
