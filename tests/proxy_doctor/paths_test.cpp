// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/proxy_doctor/rig.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace headrace::doctor;
using Catch::Matchers::Contains;

namespace {

// SYNs that came so far, and what the daemon has accepted.
Host with(const SynCounts& syns, std::uint64_t accepted) {
  Host host;
  host.facts.syns = syns;
  host.facts.daemon.accepted_since_rules = accepted;
  return host;
}

Host with_stuck(std::vector<StuckLeg> legs) {
  Host host;
  host.facts.sockets.stuck = std::move(legs);
  return host;
}

}  // namespace

TEST_CASE("doctor: the step at which SYNs end is named") {
  CHECK(with({0, 0, 0, 0}, 0).status("syn_path") == Status::ok);
  CHECK(with({12, 12, 12, 0}, 12).status("syn_path") == Status::ok);
  CHECK_THAT(with({12, 0, 0, 0}, 0).judged("syn_path").mend, Contains("intercept.interfaces"));
  CHECK_THAT(with({12, 12, 0, 0}, 0).judged("syn_path").mend, Contains("headrace explain"));
  CHECK_THAT(with({12, 12, 11, 1}, 11).judged("syn_path").text, Contains("1 without a listener"));
  const Finding lost = with({12, 12, 12, 0}, 0).judged("syn_path");
  CHECK(lost.status == Status::fail);
  CHECK_THAT(lost.text, Contains("12 SYNs came, 12 arrived by wan0 for other hosts, 12 diverted, "
                                 "0 without a listener, 0 accepted"));
}

TEST_CASE("doctor: a SYN that was sent twice is no loss, every fifth is") {
  CHECK(with({12, 12, 12, 0}, 10).status("syn_path") == Status::ok);
  CHECK(with({1000, 1000, 1000, 0}, 950).status("syn_path") == Status::ok);
  CHECK(with({1000, 1000, 1000, 0}, 800).status("syn_path") == Status::warn);
}

TEST_CASE("doctor: SYN cookies of an earlier flood hide no loss") {
  Host host = with({12, 12, 12, 0}, 0);
  host.facts.counters = {{"SyncookiesRecv", 100'000}};  // since the namespace began
  CHECK(host.status("syn_path") == Status::fail);
  host = with({1000, 1000, 1000, 0}, 800);
  host.facts.counters = {{"SyncookiesRecv", 100'000}};
  CHECK(host.status("syn_path") == Status::warn);
}

TEST_CASE("doctor: the kernel's counters say where diverted SYNs are lost") {
  Host host = with({12, 12, 12, 0}, 0);
  CHECK_THAT(host.judged("syn_path").text, Contains("no overflow"));
  host.facts.counters = {{"ListenOverflows", 12}, {"IPReversePathFilter", 3}};
  CHECK_THAT(host.judged("syn_path").text,
             Contains("ListenOverflows 12") && Contains("IPReversePathFilter 3") && !Contains("no overflow"));
}

TEST_CASE("doctor: what passes a class's rules beside SYNs is no SYN") {
  CHECK(with({12, 12, 24, 0}, 12).status("syn_path") == Status::ok);  // the ACKs of SYN cookies too
  CHECK_THAT(with({12, 12, 24, 0}, 12).judged("syn_path").text, Contains("12 diverted"));
  CHECK(with({12, 0, 0, 3}, 0).judged("syn_path").mend != "headrace reload");  // of an upload that was reset
}

TEST_CASE("doctor: a few SYNs in vain and handshakes that still wait are no FAIL") {
  CHECK(with({2, 2, 2, 0}, 0).status("syn_path") == Status::ok);
  CHECK(with({3, 3, 3, 0}, 0).status("syn_path") == Status::fail);
  Host host = with({14, 14, 14, 0}, 0);
  host.facts.sockets.half_open = 2;  // the SYN-ACKs are lost, so each SYN comes seven times
  CHECK(host.status("syn_path") == Status::warn);
  CHECK_THAT(host.judged("syn_path").text, Contains("2 handshakes wait"));
  host.facts.syns = {100, 100, 100, 0};
  CHECK(host.status("syn_path") == Status::fail);
}

TEST_CASE("doctor: SYNs are not judged where nothing is taken, or forwarders accept too") {
  Host host = with({12, 12, 12, 0}, 0);
  host.facts.daemon.takes_new_flows = false;
  CHECK(host.status("syn_path") == Status::ok);
  host.facts.daemon.answers = false;
  CHECK(host.status("syn_path") == Status::ok);
  host = with({12, 12, 12, 0}, 0);
  host.configure(kPolicy, "interfaces = [\"wan0\"]\n", "",
                 "[[forward]]\nlisten = \"127.0.0.1:1522\"\nto = \"127.0.0.1:1521\"\n");
  CHECK(host.status("syn_path") == Status::ok);
}

TEST_CASE("doctor: bbr without fq is a warning, fq and cubic are fine") {
  Host host;
  host.facts.interfaces[0].queues = {"fq_codel"};
  host.facts.interfaces[1].queues = {"mq", "fq"};
  CHECK_THAT(host.judged("pacing").text, Contains("wan0 fq_codel, lan0 mq/fq"));
  CHECK(host.status("pacing") == Status::ok);
  host.facts.environment.default_congestion = "bbr";
  CHECK(host.judged_alone("pacing").status == Status::warn);
  CHECK_THAT(host.judged("pacing").text, Contains("\"all\""));  // its server leg has no opinion
  CHECK_THAT(host.judged("pacing").mend, Contains("dev wan0 root fq"));
  host.facts.interfaces[0].queues = {"fq"};
  CHECK(host.status("pacing") == Status::ok);
}

TEST_CASE("doctor: a device without a queue is no matter for fq") {
  Host host;
  host.facts.environment.default_congestion = "bbr";
  host.facts.interfaces[0].queues = {"noqueue"};  // veth, bridge, VLAN, bond
  host.facts.interfaces[1].queues = {"fq"};
  CHECK(host.status("pacing") == Status::ok);
  host.facts.interfaces[1].queues = {"fq_codel"};
  CHECK_THAT(host.judged("pacing").mend, Contains("dev lan0 root fq"));
}

TEST_CASE("doctor: full segments again and again are a path's, small ones and one time-out are not") {
  CHECK(with_stuck({{"198.18.2.9:1521", 20'000, 3, 1448}}).status("path_mtu") == Status::warn);
  CHECK(with_stuck({{"198.18.2.9:1521", 20'000, 1, 1448}}).status("path_mtu") == Status::ok);
  CHECK(with_stuck({{"198.18.2.9:1521", 20, 3, 1448}}).status("path_mtu") == Status::ok);
  CHECK(with_stuck({{"198.18.2.9:1521", 20'000, 3, 512}}).status("path_mtu") == Status::ok);
  Host host = with_stuck({{"198.18.2.9:1521", 20'000, 3, 1448}, {"198.18.2.7:1521", 20'000, 3, 1400}});
  CHECK_THAT(host.judged("path_mtu").text, Contains("2 legs") && Contains("1448") && Contains("and others"));
  CHECK_THAT(host.judged("path_mtu").mend, Contains("tcp_mtu_probing=1"));
  host.facts.sysctls["net.ipv4.tcp_mtu_probing"] = "1";
  CHECK_THAT(host.judged("path_mtu").mend, !Contains("tcp_mtu_probing"));
}
