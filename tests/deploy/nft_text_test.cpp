// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <regex>
#include <sstream>

#include "deploy/net_plan.hpp"
#include "tests/deploy/given.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;
using Lines = std::vector<std::string>;

// The rules of one chain, without the indentation.
Lines chain(const std::string& text, const std::string& name) {
  std::istringstream lines{text};
  Lines found;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "  chain " + name + " {") {
      inside = true;
    } else if (line == "  }") {
      inside = false;
    } else if (inside) {
      found.push_back(line.substr(line.find_first_not_of(' ')));
    }
  }
  return found;
}

// "@ports_X" for "@ports_1a2b3c4d".
Lines without_numbers(Lines lines) {
  for (std::string& line : lines) line = std::regex_replace(line, std::regex{"_[0-9a-f]{8}\\b"}, "_X");
  return lines;
}

const given::PolicyText kOracle{{"198.18.20.0/24"}, {"198.18.9.5", "198.18.9.6"}, {"1521", "1600-1610"}};

TEST_CASE("nft: a policy becomes one rule that goes to its class") {
  const std::string text = render_nft(given::Host{{kOracle}}.plan());
  CHECK(without_numbers(chain(text, "policies_ipv4")) ==
        Lines{"tcp dport 179 return",
              "ip daddr @addresses_X tcp dport @ports_X ip saddr 198.18.20.0/24 goto class_18500"});
  CHECK_THAT(text, Contains("elements = { 198.18.9.5, 198.18.9.6 }"));
  CHECK_THAT(text, Contains("elements = { 1521, 1600-1610 }"));
  CHECK(chain(text, "policies_ipv6") == Lines{"tcp dport 179 return"});
}

TEST_CASE("nft: the order of the policies is the order of the rules") {
  const given::Host host{
      {{{}, {"198.18.9.5"}, {}, "bypass"}, {{}, {"198.18.9.0/24"}, {}, "a"}, {{}, {"any"}, {}, "b"}}};
  CHECK(chain(render_nft(host.plan()), "policies_ipv4") ==
        Lines{"tcp dport 179 return", "ip daddr 198.18.9.5 return", "ip daddr 198.18.9.0/24 goto class_18500",
              "goto class_18501"});
}

TEST_CASE("nft: lists that several policies share are one set") {
  auto other = kOracle;
  other.from = {"198.18.21.0/24"};
  other.take = "other";
  const std::string text = render_nft(given::Host{{kOracle, other}}.plan());
  CHECK(text.find("198.18.9.5, 198.18.9.6") == text.rfind("198.18.9.5, 198.18.9.6"));
}

TEST_CASE("nft: no class falls into another when its listener is missing") {
  const std::string text = render_nft(given::Host{{kOracle, {{}, {"any"}, {}, "b"}}}.plan());
  for (const std::string& rule : chain(text, "policies_ipv4")) {
    CHECK_THAT(rule, Contains("goto class_") || Contains("return"));
    CHECK_THAT(rule, !Contains("jump"));
  }
  for (const std::string name : {"class_18500", "class_18501"}) {
    for (const std::string& rule : chain(text, name))
      CHECK_THAT(rule,
                 Contains("tproxy") || StartsWith("meta mark") || Equals("counter name syn_no_listener"));
  }
}

TEST_CASE("nft: a class has a rule per family, and marks after tproxy in the same rule") {
  const auto rules = chain(render_nft(given::Host{{kOracle}}.plan()), "class_18500");
  REQUIRE(rules.size() == 4);
  CHECK_THAT(rules[0], Contains("tproxy ip to 127.0.0.1:18500"));
  CHECK_THAT(rules[1], Contains("tproxy ip6 to [::1]:18500"));
  for (const std::string& rule : {rules[0], rules[1]}) {
    CHECK(rule.find("tproxy") < rule.find("meta mark set"));
    CHECK(rule.find("meta mark set") < rule.find("ct mark set"));  // which an untracked packet does not pass
  }
}

TEST_CASE("nft: no mark touches bits outside the mask") {
  given::Host host{{kOracle}};
  host.settings.intercept.mark = {0x10, 0xf0};
  std::istringstream lines{render_nft(host.plan())};
  for (std::string line; std::getline(lines, line);) {
    if (line.find("mark set") != std::string::npos) CHECK_THAT(line, Contains("mark & 0xffffff0f |"));
    if (line.find("==") != std::string::npos && line.find("mark") != std::string::npos) {
      CHECK_THAT(line,
                 Contains("mark & 0x000000f0 == 0x00000010") || Contains("mark & 0x000000f0 == 0x00000020"));
    }
  }
}

TEST_CASE("nft: only a bare SYN from a named interface and for another host starts a diversion") {
  given::Host host{{kOracle}};
  host.settings.intercept.interfaces = {"eth0", "ppp*"};
  Lines jumps;
  for (const char* name : {"divert", "syn"}) {
    for (const std::string& rule : chain(render_nft(host.plan()), name)) {
      if (rule.find("jump") != std::string::npos) jumps.push_back(rule);
    }
  }
  CHECK(jumps == Lines{"iifname { \"eth0\", \"ppp*\" } tcp flags & (fin|syn|rst|ack) != syn "
                       "ct mark & 0x00ff0000 == 0x00480000 jump policies",
                       "tcp flags & (fin|syn|rst|ack) == syn jump syn",
                       "iifname { \"eth0\", \"ppp*\" } fib daddr type != local fib saddr type != local "
                       "counter name syn_arrived jump policies"});
}

TEST_CASE("nft: sessions alone keep everything but the rule that takes new flows") {
  given::Host host{{kOracle}};
  const std::string all = render_nft(host.plan());
  const auto for_sessions = chain(render_nft(host.plan()), "divert");
  host.diversion = Diversion::sessions;
  CHECK(chain(render_nft(host.plan()), "divert") == for_sessions);
  for (const std::string& rule : chain(render_nft(host.plan()), "syn")) {
    CHECK_THAT(all, Contains(rule));
    CHECK_THAT(rule, !Contains("jump") && !Contains("goto"));
  }
  CHECK_THAT(render_nft(host.plan()), !Contains("fib daddr"));
}

TEST_CASE(
    "nft: SYNs to who was not reached are left to the kernel before any policy, and so are their repeats") {
  given::Host host{{kOracle}};
  const std::string tproxy = render_nft(host.plan());
  const auto rules = chain(tproxy, "syn");
  REQUIRE(rules.size() == 6);
  CHECK(Lines(rules.begin(), rules.begin() + 4) ==
        Lines{"counter name syn_seen",
              "ct mark & 0x00ff0000 == 0x00490000 ct status & seen-reply == 0 goto failed",
              "ip saddr . ip daddr . tcp dport @failed_ipv4 goto failed",
              "ip6 saddr . ip6 daddr . tcp dport @failed_ipv6 goto failed"});
  CHECK(chain(tproxy, "failed") ==
        Lines{"counter name syn_failed ct mark set ct mark & 0xff00ffff | 0x00490000"});
  CHECK_THAT(tproxy, Contains("  set failed_ipv6 {\n    type ipv6_addr . ipv6_addr . inet_service\n"
                              "    flags timeout\n    size 16384\n  }\n"));
  host.settings.intercept.mode = InterceptMode::redirect;
  const std::string redirect = render_nft(host.plan());
  CHECK(chain(redirect, "divert").at(2) ==
        "tcp flags & (fin|syn|rst|ack) == syn ip saddr . ip daddr . tcp dport @failed_ipv4 goto failed");
  CHECK(chain(redirect, "failed") == Lines{"counter name syn_failed"});
}

TEST_CASE("nft: without timeouts.failed_server there is no set and no rule for it") {
  given::Host host{{kOracle}};
  host.settings.timeouts.failed_server.reset();
  CHECK_THAT(render_nft(host.plan()), !Contains("failed_ipv4") && !Contains("goto failed"));
  CHECK(chain(render_nft(host.plan()), "syn").size() == 3);
}

TEST_CASE("nft: without interfaces nothing is taken, and live sessions are served") {
  given::Host host{{kOracle}};
  host.settings.intercept.interfaces.clear();
  const std::string text = render_nft(host.plan());
  CHECK_THAT(text, !Contains("jump policies") && !Contains("tproxy"));
  CHECK_THAT(text, Contains("socket transparent 1"));
}

TEST_CASE("nft: a host without IPv6 gets no rule for it") {
  given::Host host{{kOracle, {{}, {"any"}, {}, "b"}}};
  host.ipv6 = false;
  CHECK_THAT(render_nft(host.plan()), !Contains("ip6") && !Contains("ipv6") && !Contains("icmpv6"));
}

TEST_CASE("nft: redirect takes SYNs to the class's port and refuses who was not redirected") {
  given::Host host{{kOracle}};
  host.settings.intercept.mode = InterceptMode::redirect;
  const std::string text = render_nft(host.plan());
  CHECK(chain(text, "class_18500") == Lines{"meta l4proto tcp counter name syn_diverted redirect to :18500"});
  CHECK_THAT(chain(text, "guard").back(),
             Contains("tcp dport { 18500 } ct status & dnat == 0 reject with tcp reset"));
  CHECK_THAT(text, !Contains("tproxy") && !Contains("zone"));
}

const given::PolicyText kVerified{{}, {"198.18.9.7"}, {}, "plain", true};

TEST_CASE("nft: SYNs of verified policies are queued before conntrack, after what earlier policies take") {
  const given::Host host{
      {{{}, {"198.18.9.7"}, {"80"}, "bypass"}, kOracle, kVerified, {{}, {"any"}, {}, "b"}}};
  const std::string text = render_nft(host.plan());
  const auto hold = chain(text, "hold");
  REQUIRE(hold.size() == 2);
  CHECK(hold[0] == "type filter hook prerouting priority raw - 1; policy accept;");
  CHECK_THAT(hold[1], Contains("meta mark & 0x00ff0000 != 0x004e0000 meta mark & 0x00ff0000 != 0x004f0000") &&
                          Contains("fib daddr type != local fib saddr type != local jump hold_policies"));
  CHECK(without_numbers(chain(text, "hold_policies_ipv4")) ==
        Lines{"tcp dport 179 return", "ip daddr 198.18.9.7 tcp dport 80 return",
              "ip daddr @hold_addresses_X tcp dport @hold_ports_X ip saddr 198.18.20.0/24 return",
              "ip daddr 198.18.9.7 goto hold_by_queue"});
  CHECK(chain(text, "hold_policies_ipv6") == Lines{});
  CHECK(chain(text, "hold_by_queue") == Lines{"meta l4proto tcp queue flags bypass to 18514"});
}

TEST_CASE("nft: a SYN that its server did not want is not taken, and leaves as it came") {
  const auto syn = chain(render_nft(given::Host{{kVerified}}.plan()), "syn");
  REQUIRE(syn.size() == 7);
  CHECK_THAT(syn[4], Contains("meta mark & 0x00ff0000 != 0x004f0000 jump policies"));
  CHECK(syn.back() ==
        "meta mark & 0x00ff0000 { 0x004d0000, 0x004e0000, 0x004f0000 } meta mark set meta mark & "
        "0xff00ffff | 0x00000000");
}

TEST_CASE("nft: where the kernel's nft cannot queue, SYNs are marked for a rule of iptables") {
  const given::Host host{{kVerified}};
  DiversionPlan plan = host.plan();
  plan.queue_rule = QueueRule::iptables;
  CHECK(chain(render_nft(plan), "hold_by_mark") ==
        Lines{"meta l4proto tcp meta mark set meta mark & 0xff00ffff | 0x004d0000"});
  const IptablesText beside = render_iptables_queue(plan);
  CHECK(beside.ipv4 ==
        "*raw\n:HEADRACE_HOLD - [0:0]\n"
        "-A HEADRACE_HOLD -p tcp -j NFQUEUE --queue-num 18514 --queue-bypass\n"
        "-I PREROUTING 1 -m mark --mark 0x004d0000/0x00ff0000 -j HEADRACE_HOLD\nCOMMIT\n");
  CHECK(beside.ipv6 == beside.ipv4);
}

TEST_CASE("nft: nothing is held without a verified policy, under bypass, or without an interface") {
  CHECK_THAT(render_nft(given::Host{{kOracle}}.plan()), !Contains("hold") && !Contains("0x004f0000"));
  given::Host host{{kVerified}};
  host.diversion = Diversion::sessions;
  CHECK_THAT(render_nft(host.plan()), !Contains("hold"));
  host.diversion = Diversion::on;
  host.settings.intercept.interfaces.clear();
  CHECK_THAT(render_nft(host.plan()), !Contains("hold"));
}

TEST_CASE("nft: a class that mirrors notes its flows, and their SYN-ACKs leave with the server's size") {
  given::Host host{{kVerified, kOracle}};
  host.classes.classes.at(0).handshake.mss.mode = Mss::Mode::mirror;
  const std::string text = render_nft(host.plan());
  CHECK(chain(text, "class_18500").front() ==
        "tcp flags & (fin|syn|rst|ack) == syn update @mirrored { ip daddr . tcp dport . ip saddr . tcp "
        "sport }");
  CHECK_THAT(chain(text, "mirror_in").back(),
             Contains("socket mark") &&
                 Contains("update @server_mss { ip saddr . tcp sport . ip daddr . tcp dport : tcp option "
                          "maxseg size }"));
  CHECK_THAT(chain(text, "mirror_out").back(), Contains("@mirrored tcp option maxseg size set"));
  host.classes.classes.at(0).handshake.mss.mode = Mss::Mode::automatic;
  CHECK_THAT(render_nft(host.plan()), !Contains("mirror"));
}

TEST_CASE("iptables: held SYNs meet the rules of the raw table once, ours first") {
  const std::string text = render_iptables(given::Host{{kVerified}}.plan()).ipv4;
  CHECK_THAT(text, Contains("-A HEADRACE_HOLD -m mark --mark 0x004e0000/0x00ff0000 -j RETURN\n"
                            "-A HEADRACE_HOLD -m mark --mark 0x004f0000/0x00ff0000 -j RETURN\n"
                            "-A HEADRACE_HOLD -j HEADRACE_HOLD_POLICIES\n"));
  CHECK_THAT(text, Contains("-A HEADRACE_HOLD_POLICIES -d 198.18.9.7/32 -p tcp -g HEADRACE_HOLD_CLASS_0") ||
                       Contains("-A HEADRACE_HOLD_POLICIES -d 198.18.9.7 -p tcp -g HEADRACE_HOLD_CLASS_0"));
  CHECK_THAT(text, Contains("-A HEADRACE_HOLD_CLASS_0 -p tcp -j NFQUEUE --queue-num 18514 --queue-bypass\n"));
  CHECK(text.find("-I PREROUTING 2 ") < text.find("-I PREROUTING 3 -i eth0"));
  CHECK_THAT(text, Contains("-m mark ! --mark 0x004f0000/0x00ff0000 -m addrtype ! --src-type LOCAL"));
}

TEST_CASE("nft: mode off renders nothing") {
  given::Host host{{kOracle}};
  host.settings.intercept.mode = InterceptMode::off;
  CHECK(render_nft(host.plan()).empty());
  CHECK(render_iptables(host.plan()).ipv4.empty());
}

TEST_CASE("nft: many policies are found through a map of addresses") {
  std::vector<given::PolicyText> policies;
  for (int i = 0; i < 40; ++i) {
    policies.push_back({{}, {"198.18.0." + std::to_string(i)}, {}, i % 2 == 0 ? "a" : "b"});
  }
  policies.push_back({{}, {"198.18.0.0/16"}, {"80"}, "c"});
  const std::string text = render_nft(given::Host{policies}.plan());
  CHECK(chain(text, "policies_ipv4") ==
        Lines{"ip daddr vmap @daddr_ipv4_single", "ip daddr vmap @daddr_ipv4_ranges"});
  CHECK_THAT(text, Contains("198.18.0.39 : goto ipv4_"));
}

// One policy whose control channel is followed.
given::Host following() {
  given::Host host{{kOracle}};
  Decision legs;
  legs.client_leg = make_treatment("plain", {}, Side::client);
  legs.server_leg = make_treatment("plain", {}, Side::server);
  auto policies = host.table.policies();
  policies.front().decision.data = data_decisions(legs);
  host.table = PolicyTable{std::move(policies)};
  return host;
}

TEST_CASE("nft: expected data connections come before the interfaces, and the ACK of a cookie finds them") {
  const std::string text = render_nft(following().plan());
  CHECK_THAT(text,
             Contains("  map expected_ipv4 {\n    type ipv4_addr . ipv4_addr . inet_service : verdict\n"));
  CHECK_THAT(text,
             Contains("  map expected_ipv6 {\n    type ipv6_addr . ipv6_addr . inet_service : verdict\n"));
  const Lines syn = chain(text, "syn");
  REQUIRE(syn.size() > 3);
  CHECK(syn[4] == "ip saddr . ip daddr . tcp dport vmap @expected_ipv4");
  CHECK(syn[5] == "ip6 saddr . ip6 daddr . tcp dport vmap @expected_ipv6");
  CHECK_THAT(syn[6], Contains("jump policies"));
  const Lines divert = chain(text, "divert");
  const auto cookie = std::find_if(divert.begin(), divert.end(), [](const std::string& rule) {
    return rule.find("vmap @expected_ipv4") != rule.npos;
  });
  REQUIRE(cookie != divert.end());
  CHECK_THAT(*cookie, Contains("!= syn ct mark"));
}

TEST_CASE("nft: where no control channel is followed there is no map, and under a bypass none is asked") {
  CHECK_THAT(render_nft(given::Host{{kOracle}}.plan()), !Contains("expected"));
  auto host = following();
  host.diversion = Diversion::sessions;
  CHECK_THAT(render_nft(host.plan()), Contains("map expected_ipv4") && !Contains("@expected"));
  host.diversion = Diversion::on;
  host.ipv6 = false;
  CHECK_THAT(render_nft(host.plan()), Contains("@expected_ipv4") && !Contains("@expected_ipv6"));
  host.settings.intercept.mode = InterceptMode::redirect;
  CHECK_THAT(render_nft(host.plan()), Contains("== syn ip saddr . ip daddr . tcp dport vmap @expected_ipv4"));
}

}  // namespace
}  // namespace headrace
