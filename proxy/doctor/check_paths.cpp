// SPDX-License-Identifier: GPL-3.0-or-later
// Checks of what becomes of packets on their way: SYNs to the listeners, bursts and segments to the peers.
#include <algorithm>
#include <set>

#include "proxy/doctor/judge.hpp"

namespace headrace::doctor {
namespace {

// Every path takes so many bytes (RFC 1122, 3.3.2): a leg that loses smaller segments has another trouble.
constexpr unsigned kAlwaysPasses = 536;
// One timeout happens on any path; the second in a row is 0.6 s of silence at least.
constexpr unsigned kRepeated = 2;
// Below, a SYN that was sent twice or is still on its way decides the share.
constexpr std::uint64_t kFewSyns = 2;
// What a client sends while its handshake waits here: the first and six more (tcp_syn_retries).
constexpr std::uint64_t kSynsOfHandshake = 7;

std::string counted(std::uint64_t count, const char* what) { return std::to_string(count) + " " + what; }

// Of what passed a class's rules, SYNs at most. The rule that brings the ACKs of SYN cookies there brings
// other packets of diverted flows that have no socket any more, such as the rest of an upload that was reset.
std::uint64_t of_syns(const SynCounts& syns, const std::optional<std::uint64_t>& packets) {
  return std::min(packets.value_or(0), syns.arrived.value_or(0));
}

// "12 SYNs came, 12 of them by ..., 12 diverted, 0 accepted": the steps that are counted.
std::string steps(const Subject& subject) {
  const SynCounts& syns = subject.facts.syns;
  std::vector<std::string> parts;
  if (syns.seen) parts.push_back(counted(*syns.seen, "SYNs came"));
  parts.push_back(counted(syns.arrived.value_or(0), "arrived by ") + join(subject.intercept().interfaces) +
                  " for other hosts");
  parts.push_back(counted(of_syns(syns, syns.diverted), "diverted"));
  if (syns.no_listener) parts.push_back(counted(of_syns(syns, syns.no_listener), "without a listener"));
  if (const auto& accepted = subject.facts.daemon.accepted_since_rules)
    parts.push_back(counted(*accepted, "accepted"));
  return "since the rules went in " + join(parts);
}

// What of this host can have taken a diverted SYN; the namespace's own counters, since it began.
std::string where_lost(const Facts& facts) {
  std::vector<std::string> parts;
  if (facts.sockets.half_open > 0)
    parts.push_back(counted(facts.sockets.half_open,
                            "handshakes wait for the client's ACK (does the SYN-ACK reach it?)"));
  for (const char* name : {"ListenOverflows", "ListenDrops", "TCPReqQFullDrop", "IPReversePathFilter"}) {
    if (const auto count = facts.counter(name); count > 0)
      parts.push_back(std::string{name} + " " + std::to_string(count));
  }
  if (parts.empty())
    return "the kernel counts no overflow, so the way from the mark to the socket loses them (route, "
           "src_valid_mark, input_rules), or the client's ACK does not come";
  return join(parts);
}

// Both counts began with the rules. The kernel's counters began with the namespace: an old flood in them
// would hide every loss of today.
std::uint64_t lost(const Facts& facts) {
  const std::uint64_t accepted = facts.daemon.accepted_since_rules.value_or(0);
  const std::uint64_t diverted = of_syns(facts.syns, facts.syns.diverted);
  return diverted > accepted ? diverted - accepted : 0;
}

// Not one gets through, and neither chance nor clients that do not hear the SYN-ACK explain it.
bool lost_all(const Facts& facts) {
  return facts.daemon.accepted_since_rules == 0U &&
         lost(facts) > kFewSyns + facts.sockets.half_open * kSynsOfHandshake;
}

bool on_bbr(const Facts& facts, const LegTreatment& leg) {
  const auto& own = leg.settings.congestion;
  return (own ? own->name : facts.environment.default_congestion) == "bbr";
}

// Who asks for bbr, in words; empty: nobody.
std::string users_of_bbr(const Subject& subject) {
  if (subject.configuration == nullptr)
    return subject.facts.environment.default_congestion == "bbr" ? "the default" : "";
  std::vector<std::string> names;
  for (const Policy& policy : subject.configuration->policies->policies()) {
    const Decision& decision = policy.decision;
    if (decision.action != Action::accelerate) continue;
    if (on_bbr(subject.facts, *decision.client_leg) || on_bbr(subject.facts, *decision.server_leg))
      names.push_back("\"" + decision.policy + "\"");
  }
  return join(names);
}

// Whether bursts wait there for somebody to pace them. A device that only hands on (veth, bridge, VLAN, bond)
// has no queue: that is at the device below.
bool has_queue(const Interface& link) { return link.queues != std::vector<std::string>{"noqueue"}; }

}  // namespace

Finding syn_path(const Subject& subject) {
  const Facts& facts = subject.facts;
  const SynCounts& syns = facts.syns;
  if (subject.intercept().mode == InterceptMode::off)
    return good("intercept.mode is off: nothing is diverted");
  if (!facts.daemon.answers || !facts.daemon.rules_present)
    return good("without a daemon and its rules no SYN is counted (see diversion)");
  if (!facts.daemon.takes_new_flows)
    return good("no new flow is taken at the moment (bypass, overload, drain, or the host is not prepared)");
  const std::string text = steps(subject);
  if (of_syns(syns, syns.no_listener) > 0)
    return warning(text + ": a class's listener was not there, and its flows went straight to the server",
                   "headrace reload");
  if (syns.arrived.value_or(0) == 0) {
    if (syns.seen.value_or(0) == 0) return good(text + ": none has come yet");
    return warning(
        text + ": clients' packets come by another interface, or are for this host itself",
        "tcpdump -ni any 'tcp[tcpflags] == tcp-syn', and name that interface in intercept.interfaces");
  }
  if (of_syns(syns, syns.diverted) == 0)
    return warning(text + ": no policy takes them, or a rule before ours does (see earlier_rules)",
                   "headrace explain --client A --to A:P");
  const bool apart = subject.settings().forwards.empty() && facts.daemon.accepted_since_rules;
  if (!apart) return good(text + " (forwarders' connections among these)");
  if (lost_all(facts))
    return failure(text + ": " + where_lost(facts), "headrace doctor, its FAIL lines first");
  if (lost(facts) > kFewSyns && lost(facts) * 10 > *syns.diverted)
    return warning(text + " (a SYN that is sent again counts again): " + where_lost(facts));
  return good(text);
}

// Without fq the pace is kept by TCP's own timer: right on average, in coarser steps, at the sender's cost.
// `pace` is headrace's own and asks for no queue (B55).
Finding pacing(const Subject& subject) {
  std::vector<std::string> each;
  std::vector<std::string> others;
  for (const Interface& link : subject.facts.interfaces) {
    if (!link.up || link.queues.empty()) continue;
    each.push_back(link.name + " " + join(link.queues, "/"));
    if (has_queue(link) && std::find(link.queues.begin(), link.queues.end(), "fq") == link.queues.end())
      others.push_back(link.name);
  }
  const std::string text = "queueing: " + (each.empty() ? std::string{"not known"} : join(each));
  const std::string users = users_of_bbr(subject);
  if (users.empty() || others.empty()) return good(text);
  return warning(
      "bbr (" + users + ") is paced by TCP's timers where the queue is not fq, in coarser steps; " + text,
      "tc qdisc replace dev " + others.front() + " root fq, or congestion = \"cubic\" in the profile");
}

// A full segment that is sent again and again while nothing is answered: a hop takes less, and its "too big"
// messages are lost (B57). A host that is gone looks the same from here.
Finding path_mtu(const Subject& subject) {
  std::set<std::string> peers;
  unsigned size = 0;
  for (const StuckLeg& leg : subject.facts.sockets.stuck) {
    if (leg.backoff < kRepeated || leg.segment_size <= kAlwaysPasses || leg.queued < leg.segment_size)
      continue;
    peers.insert(leg.peer);
    size = std::max(size, leg.segment_size);
  }
  if (peers.empty()) {
    return good(subject.facts.daemon.answers && subject.facts.daemon.pid == 0
                    ? "the daemon's legs can't be told from others: its process is not "
                      "visible from here"
                    : "no leg repeats full segments");
  }
  const std::string text =
      std::to_string(peers.size()) + " legs repeat full segments of up to " + std::to_string(size) +
      " bytes unanswered, to " + *peers.begin() + (peers.size() > 1 ? " and others" : "") +
      ": a path that loses large packets and the ICMP that says so, or a host that is gone";
  const std::string smaller = "mss = 1200 in the profile of that leg";
  if (subject.facts.number("net.ipv4.tcp_mtu_probing").value_or(0) != 0)
    return warning(text + "; tcp_mtu_probing is on and will find a smaller size", smaller);
  return warning(text, "sysctl -w net.ipv4.tcp_mtu_probing=1, or " + smaller);
}

}  // namespace headrace::doctor
