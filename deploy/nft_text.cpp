// SPDX-License-Identifier: GPL-3.0-or-later
// The nft form of a diversion (nft_table, render_nft of deploy/net_plan.hpp).
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deploy/marks.hpp"
#include "deploy/net_plan.hpp"
#include "deploy/nft_policies.hpp"

namespace headrace {
namespace {

constexpr std::string_view kBareSyn = "tcp flags & (fin|syn|rst|ack) == syn";
constexpr std::string_view kNotBareSyn = "tcp flags & (fin|syn|rst|ack) != syn";

std::string is_marked(std::string_view where, std::uint32_t value, std::uint32_t mask) {
  return std::string{where} + " & " + print_hex(mask) + " == " + print_hex(value);
}

// One of several values.
std::string is_marked(std::string_view where, const std::set<std::uint32_t>& values, std::uint32_t mask) {
  if (values.size() == 1) return is_marked(where, *values.begin(), mask);
  std::string list;
  for (const std::uint32_t value : values) list.append(list.empty() ? "" : ", ").append(print_hex(value));
  return std::string{where} + " & " + print_hex(mask) + " { " + list + " }";
}

// Sets the bits under the mask and keeps the others, which are other people's.
std::string set_mark(std::string_view where, std::uint32_t value, std::uint32_t mask) {
  std::string text = std::string{where} + " set ";
  if (mask == UINT32_MAX) return text + print_hex(value);
  return text.append(where) + " & " + print_hex(~mask) + " | " + print_hex(value);
}

using Chain = NftTable::Chain;
using Chains = std::vector<Chain>;

template <class List>
void append(List& list, List more) {
  std::move(more.begin(), more.end(), std::back_inserter(list));
}

std::string line(const std::string& rule) { return "    " + rule + "\n"; }

// "iifname { ... } " or nothing for "*".
std::string from_interfaces(const InterceptSettings& intercept) {
  std::string list;
  for (const std::string& name : distinct_interfaces(intercept.interfaces)) {
    if (name == "*") return "iifname != \"lo\" ";
    list.append(list.empty() ? "\"" : ", \"").append(name).append("\"");
  }
  return "iifname { " + list + " } ";
}

// How far SYNs come, for `headrace doctor`: all that meet our rules, those that may be taken, those that a
// listener was found for, and those for whose class there was none. The last two count more than SYNs: the
// ACK of a SYN cookie, and any packet of a diverted flow whose socket is gone (the rest of an upload that was
// reset), since both come by one rule. Three of them cost 0.1 us a SYN: +1.46 us instead of +1.34 us for one
// policy (policy_cost, medians of three interleaved runs). What is only forwarded meets a rule less than
// before, since those that are for SYNs stand in a chain of their own.
std::vector<std::string> counters() {
  return {"syn_seen", "syn_arrived", "syn_diverted", "syn_no_listener", kSynFailedCounter};
}

std::string count(std::string_view counter) { return "counter name " + std::string{counter}; }

bool takes_new_flows(const DiversionPlan& plan) {
  return plan.diversion == Diversion::on && !plan.settings.intercept.interfaces.empty();
}

std::string was_held(const DiversionPlan& plan) {
  const MarkAndMask& marks = plan.settings.intercept.mark;
  return is_marked("meta mark", std::set{marks.asked_mark(), marks.taken_mark(), marks.direct_mark()},
                   marks.mask);
}

// A SYN leaves as it came, whatever was decided of it while it was held.
std::string forget_held(const DiversionPlan& plan) {
  if (!plan.policies.has_verified()) return {};
  return line(was_held(plan) + " " + set_mark("meta mark", 0, plan.settings.intercept.mark.mask));
}

bool leaves_failed(const DiversionPlan& plan) {
  return plan.settings.timeouts.failed_server && !plan.settings.intercept.interfaces.empty();
}

NftTable::Set failed_set(std::string_view name, std::string_view address) {
  return {std::string{name},
          "set",
          "    type " + std::string{address} + " . " + std::string{address} +
              " . inet_service\n    flags timeout\n    size " + std::to_string(kMostFailed) + "\n",
          {}};
}

// Who could not reach which server and port a moment ago: workers write it (proxy/failed_servers).
std::vector<NftTable::Set> failed_sets(const DiversionPlan& plan) {
  if (!leaves_failed(plan)) return {};
  std::vector<NftTable::Set> sets{failed_set(kFailedIpv4, "ipv4_addr")};
  if (plan.ipv6) sets.push_back(failed_set(kFailedIpv6, "ipv6_addr"));
  return sets;
}

// SYNs of these flows are the kernel's to forward. To look costs each SYN 0.08 us (1.51 -> 1.59 us of
// processor time for one policy, medians of 8 interleaved runs of policy_cost).
std::string failed_rules(const DiversionPlan& plan, const std::string& syn) {
  if (!leaves_failed(plan) || !takes_new_flows(plan)) return {};
  std::string body =
      line(syn + "ip saddr . ip daddr . tcp dport @" + std::string{kFailedIpv4} + " goto failed");
  if (plan.ipv6)
    body += line(syn + "ip6 saddr . ip6 daddr . tcp dport @" + std::string{kFailedIpv6} + " goto failed");
  return body;
}

// A SYN that was left to the kernel may have to be sent again after the element has gone. Taken then, a
// server that never answers would look as if it had: what was begun directly is tried so to its end. Not once
// the server has answered: a client that always comes from one port meets the entry of its last try.
std::string failed_repeats(const DiversionPlan& plan, const std::string& was_left) {
  if (!leaves_failed(plan) || !takes_new_flows(plan)) return {};
  return line(was_left + " ct status & seen-reply == 0 goto failed");
}

Chains failed_chain(const DiversionPlan& plan, const std::string& more) {
  if (!leaves_failed(plan) || !takes_new_flows(plan)) return {};
  return {{"failed", "", line(count(kSynFailedCounter) + more) + forget_held(plan)}};
}

bool follows_data(const PolicyTable& table) {
  const auto& policies = table.policies();
  return std::any_of(policies.begin(), policies.end(),
                     [](const Policy& policy) { return policy.decision.data != nullptr; });
}

// Room for one announced data connection of every session there can be.
std::vector<NftTable::Set> expected_maps(const DiversionPlan& plan) {
  std::vector<NftTable::Set> maps;
  if (!follows_data(plan.policies)) return maps;
  for (const Family family : {Family::ipv4, Family::ipv6}) {
    const std::string address = family == Family::ipv4 ? "ipv4_addr" : "ipv6_addr";
    maps.push_back({std::string{expected_map(family)},
                    "map",
                    "    type " + address + " . " + address +
                        " . inet_service : verdict\n    size 65536\n    flags timeout\n",
                    {}});
  }
  return maps;
}

// Data connections come from wherever the server is, and to ports that no policy names. `condition` is what
// picks the packets.
std::string expected_flows(const DiversionPlan& plan, const std::string& condition) {
  if (!takes_new_flows(plan) || !follows_data(plan.policies)) return {};
  std::string text =
      line(condition + "ip saddr . ip daddr . tcp dport vmap @" + std::string{expected_map(Family::ipv4)});
  if (plan.ipv6)
    text += line(condition + "ip6 saddr . ip6 daddr . tcp dport vmap @" +
                 std::string{expected_map(Family::ipv6)});
  return text;
}

// For a SYN whose server did not want it.
std::string not_sent_on(const DiversionPlan& plan) {
  const MarkAndMask& marks = plan.settings.intercept.mark;
  if (!plan.policies.has_verified()) return {};
  return "meta mark & " + print_hex(marks.mask) + " != " + print_hex(marks.direct_mark()) + " ";
}

// Of SYNs. Neither what is addressed to this host nor what it sent itself: no loop can start.
std::string new_flows(const DiversionPlan& plan) {
  return from_interfaces(plan.settings.intercept) + "fib daddr type != local fib saddr type != local " +
         count("syn_arrived") + " " + not_sent_on(plan) + "jump policies";
}

// Both legs of a session have the same addresses and ports. In one conntrack table their sequence numbers
// look invalid, so the server leg gets a zone of its own. By the socket's mark alone, not by its being
// transparent: a leg that connects as the proxy needs its replies in the same zone as its SYN.
// Where this host also masquerades a leg that keeps the client's address, the replies come to our own
// address, find no socket before NAT undoes that, miss the zone and are invalid: connect times out. Not
// cured by `ct original zone` for all: it does for masqueraded legs, but without a nat table it times out
// itself (both legs' reply tuples clash), and with one the kernel picks another source port (all measured).
Chains zone_chains(const DiversionPlan& plan) {
  const InterceptSettings& intercept = plan.settings.intercept;
  const std::uint32_t mask = intercept.mark.mask;
  const std::string zone = " ct zone set " + std::to_string(intercept.table);
  const std::set<std::uint32_t> server = server_marks(plan).all;
  return {
      {"zone_in", "filter hook prerouting priority raw", line(is_marked("socket mark", server, mask) + zone)},
      {"zone_out", "filter hook output priority raw", line(is_marked("meta mark", server, mask) + zone)}};
}

// A SYN of a policy with accept = "verified" waits in a queue until its server has answered (proxy/verifier),
// before anything else but reassembly has seen it: no conntrack entry, no NAT. The verdict sends it through
// the chain that queued it once more, with a mark that lets it pass there, and then on its way: to be taken,
// or to the server itself. Without the daemon (bypass), or when it is too slow (fail-open), a SYN goes on as
// if it were accepted early, for which it takes a listener.
Chains hold_chains(const DiversionPlan& plan) {
  const MarkAndMask& marks = plan.settings.intercept.mark;
  const auto is_not = [&](std::uint32_t value) {
    return "meta mark & " + print_hex(marks.mask) + " != " + print_hex(value) + " ";
  };
  const std::string ask = plan.queue_rule == QueueRule::nft
                              ? "queue flags bypass to " + std::to_string(plan.settings.intercept.queue)
                              : set_mark("meta mark", marks.asked_mark(), marks.mask);
  return {{"hold", "filter hook prerouting priority raw - 1",
           line(from_interfaces(plan.settings.intercept) + std::string{kBareSyn} + " " +
                is_not(marks.taken_mark()) + is_not(marks.direct_mark()) +
                "fib daddr type != local fib saddr type != local jump hold_policies")},
          {hold_chain(plan), "", line("meta l4proto tcp " + ask)}};
}

// Behind destination NAT: what this host translates is taken with the address of its real server. In front of
// it (priority mangle, measured) the SYN would find the listener before the translation and the ACK after it
// none: every such connection was reset.
constexpr std::string_view kDivertHook = "filter hook prerouting priority dstnat + 1";

Chains divert_chains(const DiversionPlan& plan) {
  const InterceptSettings& intercept = plan.settings.intercept;
  const auto& [mark, mask] = intercept.mark;
  const std::string to_us = " socket transparent 1 " + set_mark("meta mark", mark, mask) + " accept";
  const std::string was_diverted = is_marked("ct mark", mark, mask);
  std::string body = line(std::string{kNotBareSyn} + to_us);
  body += line((plan.ipv6 ? "meta l4proto { icmp, icmpv6 }" : "meta l4proto icmp") + to_us);
  if (!intercept.interfaces.empty()) {
    // The ACK that answers a SYN cookie finds no socket yet: it walks the policies as its SYN did.
    body += expected_flows(plan, std::string{kNotBareSyn} + " " + was_diverted + " ");
    body +=
        line(from_interfaces(intercept) + std::string{kNotBareSyn} + " " + was_diverted + " jump policies");
  }
  body += line(std::string{kBareSyn} + " jump syn");
  std::string syn = line(count("syn_seen"));
  const std::uint32_t left =
      intercept.mark.server_mark();  // a value that this side's entries have no use for
  syn += failed_repeats(plan, is_marked("ct mark", left, mask)) + failed_rules(plan, "") +
         expected_flows(plan, "");
  if (takes_new_flows(plan)) syn += line(new_flows(plan));
  // A SYN that got here goes to the server itself. Conntrack may have kept the entry of a session that
  // was reset: without this the flow would be taken at its next packet, and reset.
  syn += line(was_diverted + " " + set_mark("ct mark", 0, mask));
  syn += forget_held(plan);
  Chains chains{{"divert", std::string{kDivertHook}, body}, {"syn", "", syn}};
  append(chains, failed_chain(plan, " " + set_mark("ct mark", left, mask)));
  return chains;
}

// Options that a leg does not offer are taken out of its SYN; the other end, which never saw them, does not
// answer with them (measured, checksums right).
std::string strip(std::string_view option) {
  return "tcp flags & (syn|ack) == syn reset tcp option " + std::string{option};
}

std::string strip_from_client(const Profile& leg) {
  std::string body;
  if (!leg.timestamps.value_or(true)) body += line(strip("timestamp"));
  if (!leg.sack.value_or(true)) body += line(strip("sack-perm"));
  return body;
}

Chains strip_chain(const DiversionPlan& plan) {
  const ServerMarks marks = server_marks(plan);
  const std::uint32_t mask = plan.settings.intercept.mark.mask;
  std::string body;
  if (!marks.without_timestamps.empty())
    body += line(is_marked("meta mark", marks.without_timestamps, mask) + " " + strip("timestamp"));
  if (!marks.without_sack.empty())
    body += line(is_marked("meta mark", marks.without_sack, mask) + " " + strip("sack-perm"));
  if (body.empty()) return {};
  return {{"strip", "filter hook output priority mangle", body}};
}

// mss = "mirror" on client legs. The kernel takes the size in a SYN-ACK from the listener, anew each time
// that it sends one, and no listener is one flow's; so the packet filter notes what the server announced, and
// lowers ours to that on its way out. Both by the addresses and ports that the legs share. IPv4 alone: nft
// 1.0.6 fails an assertion over maps that are filled by packets and whose keys are longer than 16 bytes, and
// crashes when it lists one whose key is a hash. Longer than a SYN-ACK is repeated (tcp_synack_retries: 63
// s).
constexpr std::string_view kNoted = "    size 65535\n    flags dynamic,timeout\n    timeout 2m\n";
constexpr std::string_view kSynAck = "tcp flags & (fin|syn|rst|ack) == (syn|ack) ";
constexpr std::string_view kServerFirst = "ip saddr . tcp sport . ip daddr . tcp dport";
constexpr std::string_view kClientFirst = "ip daddr . tcp dport . ip saddr . tcp sport";

std::vector<NftTable::Set> mirror_sets(const DiversionPlan& plan) {
  if (!has_mirror(plan)) return {};
  const std::string type = "    typeof " + std::string{kServerFirst}, noted{kNoted};
  return {{"server_mss", "map", type + " : tcp option maxseg size\n" + noted, {}},
          {"mirrored", "set", type + "\n" + noted, {}}};
}

Chains mirror_chains(const DiversionPlan& plan) {
  if (!has_mirror(plan)) return {};
  const std::string flow{kServerFirst}, syn_ack{kSynAck};
  const std::uint32_t mask = plan.settings.intercept.mark.mask;
  const std::string note = syn_ack + is_marked("socket mark", server_marks(plan).all, mask) +
                           " update @server_mss { " + flow + " : tcp option maxseg size }";
  const std::string lower =
      syn_ack + flow + " @mirrored tcp option maxseg size set " + flow + " map @server_mss";
  return {{"mirror_in", "filter hook prerouting priority raw", line(note)},
          {"mirror_out", "filter hook output priority mangle", line(lower)}};
}

std::string note_mirrored() {
  return line(std::string{kBareSyn} + " update @mirrored { " + std::string{kClientFirst} + " }");
}

// The mark comes after tproxy and in the same rule: without a listener tproxy does not match, and a packet
// that had the mark already would be delivered to nobody instead of being forwarded.
std::string tproxy_class(const DiversionPlan& plan, std::size_t index) {
  const auto& [mark, mask] = plan.settings.intercept.mark;
  const std::string port = std::to_string(plan.ports.at(index));
  const std::string rest = " " + count("syn_diverted") + " " + set_mark("meta mark", mark, mask) + " " +
                           set_mark("ct mark", mark, mask) + " accept";
  const ListenerClass& group = plan.classes.classes.at(index);
  std::string body = strip_from_client(group.handshake);
  if (mirrors(group)) body += note_mirrored();
  body += line("meta nfproto ipv4 meta l4proto tcp tproxy ip to 127.0.0.1:" + port + rest);
  if (plan.ipv6) body += line("meta nfproto ipv6 meta l4proto tcp tproxy ip6 to [::1]:" + port + rest);
  // A packet that conntrack does not track (notrack) ends a rule at "ct mark". With a socket and without the
  // mark it would not even be forwarded.
  body += line(is_marked("meta mark", mark, mask) + " accept");
  return body + line(count("syn_no_listener"));
}

Chains class_chains(const DiversionPlan& plan) {
  const bool redirect = plan.settings.intercept.mode == InterceptMode::redirect;
  Chains chains;
  for (std::size_t i = 0; i < plan.classes.classes.size(); ++i) {
    chains.push_back({class_chain(plan.ports.at(i)), "",
                      redirect ? line("meta l4proto tcp " + count("syn_diverted") +
                                      " redirect to :" + std::to_string(plan.ports.at(i)))
                               : tproxy_class(plan, i)});
  }
  return chains;
}

// The listeners are bound to the wildcard here: whoever was not redirected has no business there.
Chain guard_chain(const DiversionPlan& plan) {
  std::string ports;
  for (const std::uint16_t port : plan.ports)
    ports.append(ports.empty() ? "" : ", ").append(std::to_string(port));
  return {"guard", "filter hook input priority filter - 1",
          ports.empty() ? std::string{}
                        : line("tcp dport { " + ports + " } ct status & dnat == 0 reject with tcp reset")};
}

Chains redirect_chains(const DiversionPlan& plan) {
  const std::string bare_syn = std::string{kBareSyn} + " ";
  std::string body =
      line(bare_syn + count("syn_seen")) + failed_rules(plan, bare_syn) + expected_flows(plan, bare_syn);
  if (takes_new_flows(plan)) body += line(bare_syn + new_flows(plan));
  // Behind others' translations, which conntrack then has no further question about: what they translate is
  // theirs. In front of them (priority dstnat: who comes last is first) our server leg knew the untranslated
  // address only.
  Chains chains{{"divert", "nat hook prerouting priority dstnat + 1", body}, guard_chain(plan)};
  append(chains, failed_chain(plan, ""));
  return chains;
}

}  // namespace

std::string class_chain(std::uint16_t listener_port) { return "class_" + std::to_string(listener_port); }

std::string_view expected_map(Family family) {
  return family == Family::ipv4 ? "expected_ipv4" : "expected_ipv6";
}

NftTable nft_table(const DiversionPlan& plan) {
  const InterceptSettings& intercept = plan.settings.intercept;
  if (intercept.mode == InterceptMode::off) return {};
  const bool redirect = intercept.mode == InterceptMode::redirect;
  NftTable table;
  table.counters = counters();
  table.sets = failed_sets(plan);
  if (redirect) {
    append(table.chains, redirect_chains(plan));
  } else {
    append(table.chains, zone_chains(plan));
    append(table.chains, divert_chains(plan));
    append(table.chains, strip_chain(plan));
    append(table.chains, mirror_chains(plan));
  }
  if (intercept.interfaces.empty()) return table;
  NftPolicies policies{plan};
  append(table.sets, policies.take_sets());
  append(table.sets, expected_maps(plan));
  append(table.sets, mirror_sets(plan));
  append(table.chains, policies.take_chains());
  append(table.chains, class_chains(plan));
  if (!holds_syns(plan)) return table;
  NftPolicies held = NftPolicies::of_held(plan);
  append(table.sets, held.take_sets());
  append(table.chains, hold_chains(plan));
  append(table.chains, held.take_chains());
  return table;
}

std::string render_nft(const DiversionPlan& plan) {
  return plan.settings.intercept.mode == InterceptMode::off ? std::string{} : render(nft_table(plan));
}

}  // namespace headrace
