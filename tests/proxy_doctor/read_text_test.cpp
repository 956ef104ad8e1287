// SPDX-License-Identifier: GPL-3.0-or-later
// What the programs print (iproute2 6.1, nft 1.0.6, iptables 1.8.9) as facts.
#include "proxy/doctor/read_text.hpp"

#include "tests/test.hpp"

using namespace headrace;
using namespace headrace::doctor;

TEST_CASE("doctor reads: links with their masters") {
  const auto links = read_links(
      "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN\\    link/loopback\n"
      "4: v0@v1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1400 qdisc noop master br0 state UP mode DEFAULT\\    "
      "link/ether 3a:a9:9b:80:e6:21\\    veth \\    bridge_slave state disabled priority 32\n"
      "2: br0: <BROADCAST,MULTICAST> mtu 1500 qdisc noop state DOWN\\    link/ether 3a\\    bridge "
      "forward_delay "
      "1500\n"
      "7: eth0.7: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc noop master red state UP\\    vrf_slave table "
      "100\n");
  REQUIRE(links.size() == 3);
  CHECK(links[0] == Interface{"v0", 1400, true, "veth", "br0", "bridge", false});
  CHECK(links[1] == Interface{"br0", 1500, false, "bridge", "", "", false});
  CHECK(links[2] == Interface{"eth0.7", 1500, true, "", "red", "vrf", false});
}

TEST_CASE("doctor reads: ip rules") {
  const auto rules = read_ip_rules(
      "0:\tfrom all lookup 255\n185:\tfrom all fwmark 0x480000/0xff0000 lookup 18514\n"
      "186:\tfrom all fwmark 0x7 lookup 77\n190:\tfrom 10.0.0.0/8 iif eth0 lookup 12\n",
      Family::ipv6);
  REQUIRE(rules.size() == 4);
  CHECK(rules[0] == IpRule{Family::ipv6, 0, {}, "255", false, "from all lookup 255"});
  CHECK(rules[1].mark == MarkAndMask{0x480000, 0xff0000});
  CHECK_FALSE(rules[1].selects);
  CHECK(rules[2].mark == MarkAndMask{0x7, UINT32_MAX});
  CHECK(rules[3].selects);
  CHECK(rules[3].table == "12");
}

TEST_CASE("doctor reads: routes") {
  CHECK(read_route_device("198.18.2.2 from 198.18.1.2 via 198.18.2.9 dev lan0 \n    cache iif wan0 \n") ==
        "lan0");
  CHECK(read_route_device("local 198.18.1.1 dev lo src 198.18.1.1 uid 0 \n    cache <local> \n") == "lo");
  CHECK(read_route_device("") == "");
  CHECK(count_next_hops("default via 198.18.1.9 dev wan0 \n") == 1);
  CHECK(count_next_hops(
            "default \n\tnexthop via 1.1.1.1 dev a weight 1 \n\tnexthop via 1.1.1.2 dev b weight 1 \n") == 2);
}

TEST_CASE("doctor reads: nft chains, and not our own") {
  const auto chains = read_nft(
      "table inet headrace {\n\tchain divert {\n\t\ttype filter hook prerouting priority -150; policy "
      "accept;\n"
      "\t\tdrop\n\t}\n}\ntable inet f {\n\tset s {\n\t\ttype ipv4_addr\n\t}\n\n\tchain input {\n"
      "\t\ttype filter hook input priority 0; policy drop;\n\t\tiifname \"lo\" accept\n\t}\n\n"
      "\tchain more {\n\t\tdrop\n\t}\n}\n");
  REQUIRE(chains.size() == 2);
  CHECK(chains[0] == FilterChain{"nft", "inet f", "input", "input", 0, "drop", {"iifname lo accept"}});
  CHECK(chains[1] == FilterChain{"nft", "inet f", "more", "", 0, "accept", {"drop"}});
}

TEST_CASE("doctor reads: iptables chains with the priorities that they stand for, once") {
  const auto chains = read_iptables(
      "# Generated\n*mangle\n:PREROUTING DROP [0:0]\n:HEADRACE_DIVERT - [0:0]\n"
      "-A PREROUTING -j HEADRACE_DIVERT\n-A HEADRACE_DIVERT -j ACCEPT\nCOMMIT\n*nat\n:POSTROUTING ACCEPT "
      "[0:0]\n"
      ":DOCKER - [0:0]\n-A POSTROUTING -j MASQUERADE\nCOMMIT\n",
      "ip6tables");
  REQUIRE(chains.size() == 3);
  CHECK(chains[0] == FilterChain{"ip6tables",
                                 "mangle",
                                 "PREROUTING",
                                 "prerouting",
                                 -150,
                                 "drop",
                                 {"-A PREROUTING -j HEADRACE_DIVERT"}});
  CHECK(chains[1].priority == 100);
  CHECK(chains[2].hook.empty());
  const auto nft = read_nft(
      "table ip6 nat {\n\tchain POSTROUTING {\n\t\tmasquerade\n\t}\n}\n"
      "table ip nat {\n\tchain POSTROUTING {\n\t\tmasquerade\n\t}\n}\n");
  const auto left = without_doubles(nft, chains);
  REQUIRE(left.size() == 1);
  CHECK(left[0].table == "ip nat");
}

TEST_CASE("doctor reads: counters, capabilities, offloads") {
  const auto counters =
      read_netstat("TcpExt: SyncookiesSent ListenDrops\nTcpExt: 12 3\nIpExt: A\nIpExt: 1\n");
  CHECK(counters.at("SyncookiesSent") == 12);
  CHECK(counters.at("ListenDrops") == 3);
  const auto none = read_capabilities("Name:\tx\nCapEff:\t0000000000003000\n");
  CHECK(none.net_admin);
  CHECK(none.net_raw);
  CHECK_FALSE(none.bpf);
  CHECK_FALSE(none.net_bind_service);
  CHECK(has_large_receive("generic-receive-offload: off\nlarge-receive-offload: on\n"));
  CHECK_FALSE(has_large_receive("large-receive-offload: off [fixed]\n"));
}

TEST_CASE("doctor reads: text that is none of it") {
  for (const char* text :
       {"", "\n\n", "garbage", "table", "chain x {", "1:", "-A", ":", "*", "TcpExt:", "CapEff:"}) {
    read_links(text);
    read_ip_rules(text, Family::ipv4);
    read_nft(text);
    read_iptables(text, "iptables");
    read_netstat(text);
    read_capabilities(text);
    CHECK(read_route_device(text).empty());
  }
}
