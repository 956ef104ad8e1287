// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/proxy_doctor/rig.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace headrace::doctor;
using Catch::Matchers::Contains;

TEST_CASE("doctor: what net up would mend is named") {
  Host host;
  host.facts.route_differences = {"IPv4 local route in table 18514 is missing"};
  CHECK(host.status("route") == Status::fail);
  CHECK(host.judged("route").mend == "headrace net up");
}

TEST_CASE("doctor: an ip rule before ours that catches our mark is a failure") {
  const auto with = [](IpRule rule) {
    Host host;
    host.facts.ip_rules.push_back(std::move(rule));
    return host.judged("ip_rules");
  };
  CHECK(with({Family::ipv4, 100, MarkAndMask{0x480000, 0xff0000}, "254", false, "x"}).status == Status::fail);
  CHECK(with({Family::ipv6, 100, {}, "77", false, "from all lookup 77"}).status == Status::fail);
  CHECK_THAT(with({Family::ipv6, 100, {}, "77", false, "x"}).mend, Contains("ip -6 rule del pref 100"));
  CHECK(with({Family::ipv4, 100, MarkAndMask{0x7, 0xf}, "77", false, "x"}).status == Status::ok);
  CHECK(with({Family::ipv4, 100, {}, "77", true, "from 10.0.0.1 lookup 77"}).status == Status::warn);
  CHECK(with({Family::ipv4, 1000, {}, "77", false, "x"}).status == Status::ok);
  CHECK(with({Family::ipv4, 1000, MarkAndMask{0x490000, 0xff0000}, "77", false, "x"}).status == Status::warn);
}

TEST_CASE("doctor: rules and daemon come together") {
  Host host;
  host.facts.daemon = {true, false};
  CHECK(host.status("diversion") == Status::fail);
  host.facts.daemon = {false, false};
  CHECK(host.status("diversion") == Status::warn);
  host.facts.daemon = {false, true};
  CHECK(host.status("diversion") == Status::warn);
  host.configure(kPolicy, "interfaces = [\"wan0\"]\nfirewall = \"iptables\"\n");
  CHECK(host.status("diversion") == Status::fail);  // black hole
}

TEST_CASE("doctor: prerouting rules before ours that take packets are named") {
  const auto with = [](int priority, const std::string& rule) {
    Host host;
    host.chain("nft", "inet f", "prerouting", priority, {rule});
    return host.status("earlier_rules");
  };
  CHECK(with(-160, "drop") == Status::fail);
  CHECK(with(-160, "counter packets 0 bytes 0 drop") == Status::fail);
  CHECK(with(-160, "ip saddr 192.0.2.0/24 drop") == Status::warn);
  CHECK(with(-160, "ct state invalid drop") == Status::ok);
  CHECK(with(0, "ip saddr 192.0.2.0/24 drop") == Status::ok);
  CHECK(with(10, "meta nfproto ipv6 fib saddr . mark . iif oif missing drop") == Status::fail);
  CHECK(with(-160, "tcp dport 80 tproxy to :8080 accept") == Status::warn);
  CHECK(with(-300, "notrack") == Status::warn);
  CHECK(with(-160, "accept") == Status::ok);  // of that chain alone
}

TEST_CASE("doctor: iptables rules count by their place before our jump") {
  Host host;
  host.chain("iptables", "mangle", "prerouting", -150,
             {"-A PREROUTING -j HEADRACE_DIVERT", "-A PREROUTING -j ACCEPT"});
  CHECK(host.status("earlier_rules") == Status::ok);
  std::swap(host.facts.chains[0].rules[0], host.facts.chains[0].rules[1]);
  CHECK(host.status("earlier_rules") == Status::fail);
}

TEST_CASE("doctor: an input chain that drops what it does not know needs our mark") {
  Host host;
  host.chain("nft", "inet filter", "input", 0, {"ct state established,related accept", "iifname lo accept"},
             "drop");
  CHECK(host.status("input_rules") == Status::fail);
  CHECK_THAT(host.judged("input_rules").mend, Contains("0x00480000"));
  host.facts.chains[0].rules.push_back("tcp dport 1521 accept");
  CHECK(host.status("input_rules") == Status::warn);
  host.facts.chains[0].rules.push_back("meta mark & 0x00ff0000 == 0x00480000 accept");
  CHECK(host.status("input_rules") == Status::ok);
  host.facts.chains.clear();
  host.chain("iptables", "filter", "input", 0, {"-A INPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT"},
             "drop");
  CHECK(host.status("input_rules") == Status::fail);
  host.facts.chains[0].rules.push_back("-A INPUT -m mark --mark 0x480000/0xff0000 -j ACCEPT");
  CHECK(host.status("input_rules") == Status::ok);
}

TEST_CASE("doctor: other users of our mark's bits are named") {
  const auto with = [](const std::string& tool, const std::string& hook, int priority,
                       const std::string& rule) {
    Host host;
    host.chain(tool, "t", hook, priority, {rule});
    return host.status("marks");
  };
  CHECK(with("nft", "prerouting", -90, "meta mark set 0x00000001") == Status::fail);   // wipes ours
  CHECK(with("nft", "prerouting", -160, "meta mark set 0x00000001") == Status::warn);  // before ours
  CHECK(with("nft", "prerouting", -160, "meta mark set 0x00480000") == Status::fail);  // is ours
  CHECK(with("nft", "prerouting", -90, "tcp dport 80 meta mark set 0x00000001") == Status::warn);
  CHECK(with("nft", "prerouting", -90, "meta mark set meta mark & 0xfffffff0 | 0x00000001") == Status::ok);
  CHECK(with("nft", "prerouting", -90, "meta mark set mark and 0xfffffff0 xor 0x1") == Status::ok);
  CHECK(with("nft", "output", -150, "meta mark set meta mark & 0xff00ffff | 0x00010000") == Status::warn);
  CHECK(with("nft", "prerouting", -90, "tcp dport 80 meta mark set ct mark") == Status::warn);
  CHECK(with("nft", "forward", 0, "meta mark & 0x00ff0000 == 0x00480000 drop") == Status::warn);
  CHECK(with("iptables", "prerouting", -150, "-A PREROUTING -j MARK --set-xmark 0x480000/0xffffffff") ==
        Status::fail);
  CHECK(with("iptables", "prerouting", -150, "-A PREROUTING -j MARK --set-xmark 0x1/0xf") == Status::ok);
  CHECK(with("iptables", "output", -150, "-A OUTPUT -p tcp -j CONNMARK --restore-mark") == Status::warn);
  CHECK(with("iptables", "output", -150,
             "-A OUTPUT -j CONNMARK --restore-mark --nfmask 0xff --ctmask 0xff") == Status::ok);
  CHECK(with("iptables", "forward", 0, "-A FORWARD -m mark --mark 0x480000/0xff0000 -j DROP") ==
        Status::warn);
  CHECK(with("iptables", "prerouting", -150, "-A PREROUTING -j HEADRACE_DIVERT") == Status::ok);
}

TEST_CASE("doctor: source translation fails spoofed server legs, and only these") {
  const auto with = [](const std::string& tool, const std::string& rule,
                       const std::string& policy = kPolicy) {
    Host host;
    host.configure(policy);
    host.chain(tool, "nat", "postrouting", 100, {rule});
    return host.status("source_nat");
  };
  const std::string as_proxy = std::string{kPolicy} + "connect_as = \"proxy\"\n";
  const std::string from = std::string{kPolicy} + "from = [\"172.17.3.0/24\"]\n";
  for (const char* rule : {"masquerade", "oifname lan0 masquerade", "oifname lan0 snat to 192.0.2.1"}) {
    INFO(rule);
    CHECK(with("nft", rule) == Status::fail);
    CHECK(with("nft", rule, as_proxy) == Status::ok);
  }
  CHECK(with("iptables", "-A POSTROUTING -o lan0 -j MASQUERADE") == Status::fail);
  CHECK(with("iptables", "-A POSTROUTING -o lan0 -j SNAT --to-source 192.0.2.1") == Status::fail);
  CHECK(with("iptables", "-A POSTROUTING -o wan0 -j MASQUERADE") == Status::ok);  // towards the clients
  const std::string docker = "-A POSTROUTING -s 172.17.0.0/16 ! -o docker0 -j MASQUERADE";
  CHECK(with("iptables", docker) == Status::warn);
  CHECK(with("iptables", docker, from) == Status::fail);
  CHECK(with("nft", "ip saddr 172.17.0.0/16 oifname != docker0 masquerade") == Status::warn);
  CHECK(with("nft", "ip saddr != 172.17.0.0/16 masquerade") == Status::fail);
  CHECK(with("nft", "ip saddr @lan masquerade") == Status::warn);
}

TEST_CASE("doctor: destination translation is named") {
  Host host;
  host.chain("nft", "ip nat", "prerouting", -100, {"tcp dport 1521 dnat to 198.18.2.9"});
  CHECK(host.status("destination_nat") == Status::ok);
  CHECK_THAT(host.judged("destination_nat").text, Contains("dnat to 198.18.2.9"));
  host.facts.chains[0].priority = -90;
  CHECK(host.status("destination_nat") == Status::warn);
  CHECK(host.judged_alone("destination_nat").status == Status::warn);
}
