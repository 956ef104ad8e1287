// SPDX-License-Identifier: GPL-3.0-or-later
// The iptables form of a diversion (render_iptables of deploy/net_plan.hpp). Says what nft_text.cpp says;
// read the reasons there. Where it differs: TPROXY drops when nobody listens, so fail-open needs these
// rules removed when the daemon goes; lists become one rule each combination.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "deploy/iptables_saved.hpp"
#include "deploy/marks.hpp"
#include "deploy/match_rules.hpp"
#include "deploy/net_plan.hpp"

namespace headrace {
namespace {

constexpr std::string_view kBareSyn = " -p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK SYN";
constexpr std::string_view kNotBareSyn = " -p tcp -m tcp ! --tcp-flags FIN,SYN,RST,ACK SYN";
constexpr std::size_t kMultiportSlots = 15;  // iptables-extensions(8); a range takes two

// One table's chains and rules, rendered as one transaction with the removal of what is there now.
struct Section {
  std::vector<std::string> chains;
  std::string rules;

  void chain(const std::string& name) { chains.push_back("HEADRACE_" + name); }
  void add(std::string_view chain, const std::string& rule) {
    rules.append("-A HEADRACE_").append(chain).append(rule).append("\n");
  }
  void hook(const std::string& rule) { rules.append(rule).append("\n"); }
};

using Sections = std::map<std::string, Section>;

std::string masked(std::uint32_t value, std::uint32_t mask) {
  return print_hex(value) + "/" + print_hex(mask);
}

std::string render(const Sections& sections, const std::string& saved) {
  auto ours = find_ours(saved);
  for (const auto& [table, section] : sections) ours[table];
  std::string text;
  for (const auto& [table, old] : ours) {
    const auto wanted = sections.find(table);
    const auto chains = wanted == sections.end() ? std::vector<std::string>{} : wanted->second.chains;
    auto known = chains;
    std::string gone;
    for (const std::string& chain : old.chains) {
      if (std::find(chains.begin(), chains.end(), chain) != chains.end()) continue;
      known.push_back(chain);
      gone += "-X " + chain + "\n";
    }
    text += "*" + table + "\n";
    for (const std::string& chain : known) text += ":" + chain + " - [0:0]\n";  // creates or empties it
    for (const std::string& jump : old.jumps) text += jump + "\n";
    if (wanted != sections.end()) text += wanted->second.rules;
    text += gone + "COMMIT\n";
  }
  return text;
}

// What was ours, as it was.
Sections sections_of(const std::string& saved) {
  Sections sections;
  for (const auto& [name, table] : find_ours(saved)) {
    Section& section = sections[name];
    section.chains = table.chains;
    for (const std::string& rule : table.rules) section.hook(rule);
    for (const std::string& hook : table.hooks) section.hook(hook);
  }
  return sections;
}

std::string render_return(const std::string& before, const std::string& now) {
  return find_ours(before) == find_ours(now) ? std::string{} : render(sections_of(before), now);
}

std::vector<std::string> port_conditions(const std::vector<PortRange>& ports) {
  if (ports.empty()) return {" -p tcp"};
  std::vector<std::string> conditions;
  std::string list;
  std::size_t slots = 0;
  for (const PortRange& range : ports) {
    const std::size_t needs = range.first == range.last ? 1 : 2;
    if (slots + needs > kMultiportSlots) {
      conditions.push_back(" -p tcp -m multiport --dports " + list);
      list.clear();
      slots = 0;
    }
    slots += needs;
    list.append(list.empty() ? "" : ",").append(std::to_string(range.first));
    if (needs == 2) list.append(":").append(std::to_string(range.last));
  }
  conditions.push_back(" -p tcp -m multiport --dports " + list);
  return conditions;
}

std::vector<std::string> address_conditions(const std::string& option, const std::vector<Prefix>& prefixes) {
  if (prefixes.empty()) return {""};
  std::vector<std::string> conditions;
  for (const Prefix& prefix : prefixes) conditions.push_back(option + print(prefix));
  return conditions;
}

void add_rules(Section& section, const std::string& chain, Family family, const std::vector<MatchRule>& rules,
               const std::string& to_class) {
  section.chain(chain);
  if (family == Family::ipv6) section.add(chain, " -s " + std::string{kLinkLocal} + " -j RETURN");
  for (const MatchRule& rule : rules) {
    const std::string target = rule.listener_class
                                   ? " -g HEADRACE_" + to_class + std::to_string(*rule.listener_class)
                                   : " -j RETURN";
    for (const std::string& from : address_conditions(" -s ", rule.from)) {
      for (const std::string& to : address_conditions(" -d ", rule.to)) {
        for (const std::string& ports : port_conditions(rule.ports)) {
          section.add(chain, from + to + ports + target);
        }
      }
    }
  }
}

void add_policies(Section& section, const DiversionPlan& plan, Family family) {
  add_rules(section, "POLICIES", family, match_rules(plan, family), "CLASS_");
}

std::vector<std::string> from_interfaces(const InterceptSettings& intercept) {
  std::vector<std::string> conditions;
  for (std::string name : distinct_interfaces(intercept.interfaces)) {
    if (name == "*") return {" ! -i lo"};
    if (name.back() == '*') name.back() = '+';
    conditions.push_back(" -i " + name);
  }
  return conditions;
}

constexpr std::string_view kOfOthers = " -m addrtype ! --src-type LOCAL ! --dst-type LOCAL";

// For a SYN whose server did not want it.
std::string not_sent_on(const DiversionPlan& plan) {
  const MarkAndMask& marks = plan.settings.intercept.mark;
  if (!plan.policies.has_verified()) return {};
  return " -m mark ! --mark " + masked(marks.direct_mark(), marks.mask);
}

void add_new_flows(Section& section, const DiversionPlan& plan) {
  if (plan.diversion != Diversion::on) return;
  for (const std::string& from : from_interfaces(plan.settings.intercept)) {
    section.add("DIVERT", from + std::string{kBareSyn} + not_sent_on(plan) + std::string{kOfOthers} +
                              " -j HEADRACE_POLICIES");
  }
}

std::string to_queue(const DiversionPlan& plan) {
  return " -p tcp -j NFQUEUE --queue-num " + std::to_string(plan.settings.intercept.queue) +
         " --queue-bypass";
}

// Behind our own rules and before other people's, so that a SYN which is queued from here and then sent
// through the table once more meets those once.
void add_hold(Section& section, const DiversionPlan& plan, Family family) {
  const MarkAndMask& marks = plan.settings.intercept.mark;
  section.chain("HOLD");
  for (const std::uint32_t judged : {marks.taken_mark(), marks.direct_mark()})
    section.add("HOLD", " -m mark --mark " + masked(judged, marks.mask) + " -j RETURN");
  section.add("HOLD", " -j HEADRACE_HOLD_POLICIES");
  add_rules(section, "HOLD_POLICIES", family, hold_rules(plan, family), "HOLD_CLASS_");
  section.chain("HOLD_CLASS_0");
  section.add("HOLD_CLASS_0", to_queue(plan));
  for (const std::string& from : from_interfaces(plan.settings.intercept))
    section.hook("-I PREROUTING 3" + from + std::string{kBareSyn} + std::string{kOfOthers} +
                 " -j HEADRACE_HOLD");
}

// There is no match on a socket's mark: the packet borrows it, whole, for as long as the chain takes. First
// in the table, so that a mark which another rule of it sets afterwards stays. A packet that comes with a
// mark (tc at ingress, a rule before ours) would lose it: nothing else could hold it meanwhile. It is judged
// by where it comes from instead: for a transparent socket and not from the clients' side means a server leg.
// What that misses has both: a mark that somebody gave it, and a server behind the clients' interface or a
// leg that connects as the proxy.
Section zones(const DiversionPlan& plan) {
  const InterceptSettings& intercept = plan.settings.intercept;
  Section section;
  section.chain("ZONE_IN");
  section.chain("ZONE_OUT");
  for (const std::uint32_t mark : server_marks(plan).all) {
    const std::string to_zone = " -m mark --mark " + masked(mark, intercept.mark.mask) + " -j CT --zone " +
                                std::to_string(intercept.table);
    section.add("ZONE_IN", to_zone);
    section.add("ZONE_OUT", to_zone);
  }
  section.add("ZONE_IN", " -j MARK --set-xmark " + masked(0, UINT32_MAX));  // as it came
  section.chain("ZONE_MARKED");
  for (const std::string& from : from_interfaces(intercept)) section.add("ZONE_MARKED", from + " -j RETURN");
  section.add("ZONE_MARKED", " -m socket --transparent -j CT --zone " + std::to_string(intercept.table));
  const std::string unmarked = " --mark " + masked(0, UINT32_MAX);
  section.hook("-I PREROUTING 1 -m mark" + unmarked + " -m socket --restore-skmark -j HEADRACE_ZONE_IN");
  section.hook("-I PREROUTING 2 -m mark !" + unmarked + " -j HEADRACE_ZONE_MARKED");
  section.hook("-I OUTPUT 1 -j HEADRACE_ZONE_OUT");
  return section;
}

Section divert(const DiversionPlan& plan, Family family) {
  const InterceptSettings& intercept = plan.settings.intercept;
  const std::string mark = masked(intercept.mark.mark, intercept.mark.mask);
  const std::string was_diverted = " -m connmark --mark " + mark;
  const std::string to_us = " -m socket --transparent -j HEADRACE_OURS";
  Section section;
  section.chain("DIVERT");
  section.chain("OURS");
  section.add("OURS", " -j MARK --set-xmark " + mark);
  section.add("OURS", " -j ACCEPT");
  section.add("DIVERT", std::string{kNotBareSyn} + to_us);
  section.add("DIVERT", (family == Family::ipv4 ? " -p icmp" : " -p ipv6-icmp") + to_us);
  for (const std::string& from : from_interfaces(intercept)) {
    section.add("DIVERT", from + std::string{kNotBareSyn} + was_diverted + " -j HEADRACE_POLICIES");
  }
  add_new_flows(section, plan);
  section.add("DIVERT", std::string{kBareSyn} + was_diverted + " -j CONNMARK --set-xmark " +
                            masked(0, intercept.mark.mask));
  if (plan.policies.has_verified()) {
    for (const std::uint32_t held : {intercept.mark.taken_mark(), intercept.mark.direct_mark()})
      section.add("DIVERT", std::string{kBareSyn} + " -m mark --mark " + masked(held, intercept.mark.mask) +
                                " -j MARK --set-xmark " + masked(0, intercept.mark.mask));
  }
  section.hook("-A PREROUTING -j HEADRACE_DIVERT");
  return section;
}

// As in the nft form: out of the SYN, so that the other end never sees the option.
std::string strip(const std::string& option) {
  return " -p tcp --tcp-flags SYN,ACK SYN -j TCPOPTSTRIP --strip-options " + option;
}

void add_strips(Section& section, const DiversionPlan& plan) {
  const ServerMarks marks = server_marks(plan);
  const std::uint32_t mask = plan.settings.intercept.mark.mask;
  if (marks.without_timestamps.empty() && marks.without_sack.empty()) return;
  section.chain("STRIP");
  for (const std::uint32_t mark : marks.without_timestamps)
    section.add("STRIP", " -m mark --mark " + masked(mark, mask) + strip("timestamp"));
  for (const std::uint32_t mark : marks.without_sack)
    section.add("STRIP", " -m mark --mark " + masked(mark, mask) + strip("sack-permitted"));
  section.hook("-A OUTPUT -j HEADRACE_STRIP");
}

void add_classes(Section& section, const DiversionPlan& plan, Family family) {
  const InterceptSettings& intercept = plan.settings.intercept;
  const std::string mark = masked(intercept.mark.mark, intercept.mark.mask);
  for (std::size_t i = 0; i < plan.classes.classes.size(); ++i) {
    const std::string name = "CLASS_" + std::to_string(i);
    const std::string port = std::to_string(plan.ports.at(i));
    section.chain(name);
    if (intercept.mode == InterceptMode::redirect) {
      section.add(name, " -p tcp -j REDIRECT --to-ports " + port);
      continue;
    }
    const Profile& leg = plan.classes.classes[i].handshake;
    if (!leg.timestamps.value_or(true)) section.add(name, strip("timestamp"));
    if (!leg.sack.value_or(true)) section.add(name, strip("sack-permitted"));
    section.add(name, " -p tcp -j CONNMARK --set-xmark " + mark);
    section.add(name, " -p tcp -j TPROXY --on-port " + port + " --on-ip " +
                          (family == Family::ipv4 ? "127.0.0.1" : "::1") + " --tproxy-mark " + mark);
  }
}

Section guard(const DiversionPlan& plan) {
  Section section;
  section.chain("GUARD");
  std::vector<PortRange> ports;
  for (const std::uint16_t port : plan.ports) ports.push_back({port, port});
  if (!ports.empty()) {
    for (const std::string& condition : port_conditions(ports)) {
      section.add("GUARD", condition + " -m conntrack ! --ctstate DNAT -j REJECT --reject-with tcp-reset");
    }
  }
  section.hook("-I INPUT 1 -p tcp -j HEADRACE_GUARD");
  return section;
}

Sections sections_of(const DiversionPlan& plan, Family family) {
  const InterceptSettings& intercept = plan.settings.intercept;
  Sections sections;
  if (intercept.mode == InterceptMode::off || (family == Family::ipv6 && !plan.ipv6)) return sections;
  Section taking;
  if (intercept.mode == InterceptMode::redirect) {
    sections["filter"] = guard(plan);
    taking.chain("DIVERT");
    add_new_flows(taking, plan);
    taking.hook("-A PREROUTING -j HEADRACE_DIVERT");
  } else {
    sections["raw"] = zones(plan);
    if (holds_syns(plan)) add_hold(sections["raw"], plan, family);
    taking = divert(plan, family);
    add_strips(taking, plan);
  }
  if (!intercept.interfaces.empty()) {
    add_policies(taking, plan, family);
    add_classes(taking, plan, family);
  }
  sections[intercept.mode == InterceptMode::redirect ? "nat" : "mangle"] = std::move(taking);
  return sections;
}

}  // namespace

IptablesText render_iptables(const DiversionPlan& plan, const IptablesText& saved) {
  return {render(sections_of(plan, Family::ipv4), saved.ipv4),
          render(sections_of(plan, Family::ipv6), saved.ipv6)};
}

IptablesText render_iptables_queue(const DiversionPlan& plan, const IptablesText& saved) {
  const MarkAndMask& marks = plan.settings.intercept.mark;
  Section section;
  section.chain("HOLD");
  section.add("HOLD", to_queue(plan));
  section.hook("-I PREROUTING 1 -m mark --mark " + masked(marks.asked_mark(), marks.mask) +
               " -j HEADRACE_HOLD");
  const Sections sections{{"raw", section}};
  return {render(sections, saved.ipv4), plan.ipv6 ? render(sections, saved.ipv6) : std::string{}};
}

IptablesText render_iptables_removal(const IptablesText& saved) {
  return {render({}, saved.ipv4), render({}, saved.ipv6)};
}

IptablesText render_iptables_return(const IptablesText& before, const IptablesText& now) {
  return {render_return(before.ipv4, now.ipv4), render_return(before.ipv6, now.ipv6)};
}

}  // namespace headrace
