// SPDX-License-Identifier: GPL-3.0-or-later
// The nft form of a diversion (nft_table, render_nft of deploy/net_plan.hpp).
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "deploy/marks.hpp"
#include "deploy/net_plan.hpp"
#include "deploy/nft_held.hpp"
#include "deploy/nft_live.hpp"
#include "deploy/nft_policies.hpp"
#include "deploy/nft_words.hpp"

namespace headrace {
namespace {

// How far SYNs come, for `headrace doctor`: all that meet our rules, those that may be taken, those that a
// listener was found for, and those for whose class there was none. The last two count more than SYNs: the
// ACK of a SYN cookie, and any packet of a diverted flow whose socket is gone (the rest of an upload that was
// reset), since both come by one rule. Three of them cost 0.1 us a SYN: +1.46 us instead of +1.34 us for one
// policy (policy_cost, medians of three interleaved runs). What is only forwarded meets a rule less than
// before, since those that are for SYNs stand in a chain of their own.
std::vector<std::string> counters() {
  return {"syn_seen", "syn_arrived", "syn_diverted", "syn_no_listener", kSynFailedCounter};
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
