// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/proxy_doctor/rig.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace headrace::doctor;
using Catch::Matchers::Contains;

namespace {

Endpoint address(const char* text, std::uint16_t port = 0) { return {*parse_address(text), port}; }

}  // namespace

TEST_CASE("doctor: an interface that is not there is named, a pattern only warned of") {
  Host host;
  host.configure(kPolicy, "interfaces = [\"wan0\", \"eth9\"]\n");
  CHECK(host.status("interfaces") == Status::fail);
  CHECK_THAT(host.judged("interfaces").text, Contains("eth9") && Contains("lan0"));
  host.configure(kPolicy, "interfaces = [\"ppp*\"]\n");
  CHECK(host.status("interfaces") == Status::warn);
  host.configure(kPolicy, "interfaces = [\"wa*\"]\n");
  CHECK(host.status("interfaces") == Status::ok);
  host.facts.interfaces[0].up = false;
  CHECK(host.status("interfaces") == Status::warn);
  host.configure(kPolicy, "interfaces = []\n");
  CHECK(host.status("interfaces") == Status::warn);
}

TEST_CASE("doctor: VRFs and bridge ports among the interfaces are failures") {
  Host host;
  Interface& wan = host.facts.interfaces[0];
  wan.member_of = "bridge";
  wan.master = "br0";
  CHECK(host.status("bridge_vrf") == Status::fail);
  CHECK_THAT(host.judged("bridge_vrf").mend, Contains("br0"));
  wan.member_of = "vrf";
  CHECK(host.status("bridge_vrf") == Status::fail);
  wan.member_of = "";
  wan.kind = "bridge";
  CHECK(host.status("bridge_vrf") == Status::warn);
  wan.kind = "";
  host.facts.interfaces[1].member_of = "bridge";  // not one of ours
  CHECK(host.status("bridge_vrf") == Status::ok);
}

TEST_CASE("doctor: br_netfilter matters where there is a bridge") {
  Host host;
  host.facts.sysctls["net.bridge.bridge-nf-call-iptables"] = "1";
  CHECK(host.status("br_netfilter") == Status::ok);
  host.facts.interfaces.push_back({"br0", 1500, true, "bridge", "", "", false});
  CHECK(host.status("br_netfilter") == Status::warn);
  CHECK(host.judged("br_netfilter").mend == "sysctl -w net.bridge.bridge-nf-call-iptables=0");
  host.facts.sysctls["net.bridge.bridge-nf-call-iptables"] = "0";
  CHECK(host.status("br_netfilter") == Status::ok);
}

TEST_CASE("doctor: forwarding is needed in the families that policies name") {
  Host host;
  host.facts.sysctls["net.ipv6.conf.all.forwarding"] = "0";
  CHECK(host.status("ip_forward") == Status::ok);
  host.configure("[[policy]]\nname = \"a\"\nto = [\"any\"]\n");
  CHECK(host.status("ip_forward") == Status::warn);
  host.configure("[[policy]]\nname = \"a\"\nto = [\"2001:db8::1\"]\n");
  CHECK(host.status("ip_forward") == Status::fail);
  host.facts.has_ipv6 = false;
  CHECK(host.status("ip_forward") == Status::ok);
  CHECK(host.status("ipv6") == Status::warn);
  host.facts.sysctls["net.ipv4.ip_forward"] = "0";
  CHECK(host.status("ip_forward") == Status::fail);
  host.configure(kPolicy, "mode = \"off\"\n");
  CHECK(host.status("ip_forward") == Status::ok);
}

TEST_CASE("doctor: IPv6 switched off matters to policies for it alone") {
  Host host;
  host.facts.sysctls["net.ipv6.conf.all.disable_ipv6"] = "1";
  CHECK(host.status("ipv6") == Status::ok);
  host.configure("[[policy]]\nname = \"a\"\nto = [\"2001:db8::1\"]\n");
  CHECK(host.status("ipv6") == Status::warn);
}

TEST_CASE("doctor: strict reverse path filtering is named per interface") {
  Host host;
  host.facts.sysctls["net.ipv4.conf.lan0.rp_filter"] = "1";
  CHECK(host.status("rp_filter") == Status::warn);
  CHECK(host.judged("rp_filter").mend == "sysctl -w net.ipv4.conf.lan0.rp_filter=2");
  host.facts.sysctls["net.ipv4.conf.lan0.rp_filter"] = "2";
  CHECK(host.status("rp_filter") == Status::ok);
  host.facts.sysctls["net.ipv4.conf.all.rp_filter"] = "1";  // the kernel takes the greater of both
  CHECK_THAT(host.judged("rp_filter").text, Contains("wan0") && !Contains("lan0"));
}

TEST_CASE("doctor: src_valid_mark on any interface is a failure") {
  Host host;
  host.facts.interfaces[1].name = "lan0.7";
  host.facts.sysctls["net.ipv4.conf.lan0/7.src_valid_mark"] = "1";
  CHECK(host.status("src_valid_mark") == Status::fail);
  CHECK(host.judged("src_valid_mark").mend == "sysctl -w net.ipv4.conf.lan0/7.src_valid_mark=0");
  host.facts.sysctls.erase("net.ipv4.conf.lan0/7.src_valid_mark");
  CHECK(host.status("src_valid_mark") == Status::ok);
  host.facts.sysctls["net.ipv4.conf.all.src_valid_mark"] = "1";
  CHECK(host.status("src_valid_mark") == Status::fail);
}

TEST_CASE("doctor: different MTUs and LRO are oddities") {
  Host host;
  host.facts.interfaces[0].mtu = 1492;
  CHECK(host.status("mtu") == Status::warn);
  CHECK_THAT(host.judged("mtu").text, Contains("wan0 1492"));
  host.facts.sysctls["net.ipv4.tcp_mtu_probing"] = "1";
  CHECK(host.status("mtu") == Status::ok);
  host.facts.interfaces[1].large_receive = true;
  CHECK(host.judged("lro").mend == "ethtool -K lan0 lro off");
}

TEST_CASE("doctor: several default routes without a hash by ports are named") {
  Host host;
  host.facts.next_hops = 2;
  CHECK(host.status("multipath") == Status::warn);
  host.facts.sysctls["net.ipv4.fib_multipath_hash_policy"] = "1";
  CHECK(host.status("multipath") == Status::ok);
}

TEST_CASE("doctor: a probed flow is followed both ways") {
  Host host;
  host.facts.probe = Probe{address("198.18.1.2"), address("198.18.2.2", 5000), "wan0", "lan0", ""};
  CHECK(host.status("asymmetry") == Status::ok);
  host.facts.probe->client_device = "lan0";
  CHECK(host.status("asymmetry") == Status::fail);
  host.facts.probe->client_device = "wan0";
  host.facts.probe->server_device = "wan0";
  CHECK(host.status("asymmetry") == Status::warn);
  host.facts.probe->server_device = "lo";
  CHECK(host.status("asymmetry") == Status::fail);
  host.facts.probe->server_device = "lan0";
  host.facts.probe->to = address("198.18.9.9", 80);
  CHECK_THAT(host.judged("asymmetry").text, Contains("no policy"));
  host.facts.probe->complaint = "Network is unreachable";
  CHECK(host.status("asymmetry") == Status::fail);
}
