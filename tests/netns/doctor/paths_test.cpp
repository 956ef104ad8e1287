// SPDX-License-Identifier: GPL-3.0-or-later
// How far a SYN came, who paces bursts, and paths that lose large packets.
#include "tests/netns/doctor/patient.hpp"
#include "tests/netns/rules/far_host.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

DaemonSettings by(const std::string& firewall) {
  DaemonSettings settings = plain_settings();
  settings.intercept += "firewall = \"" + firewall + "\"\n";
  return settings;
}

// A client's SYN, in vain.
void knock(const lab::InlineLab& lab, const std::string& to) {
  lab::SocketOptions impatient;
  impatient.timeout = 300ms;
  CHECK(lab::Socket::try_connect(lab.client, to, impatient).end != lab::End::done);
}

const std::string kServer = lab::endpoint(lab::kServer4, 5000);

}  // namespace

TEST_CASE("doctor: SYNs are counted from their arrival to the listener") {
  const lab::InlineLab lab;
  const std::string firewall = GENERATE("nft", "iptables");
  const Daemon daemon{lab, by(firewall)};
  CHECK_THAT(Diagnosis{daemon}.line("syn_path"), Contains("ok ") && Contains("none has come yet"));
  const auto listeners = listen_in_both(lab);
  CHECK(way_of_new_flows(lab, listeners) == "through");
  CHECK_THAT(Diagnosis{daemon}.line("syn_path"), Contains("ok ") && Contains("2 arrived by wan0") &&
                                                     Contains("2 diverted") && Contains("2 accepted"));
  // A reload changes nft's rules and replaces iptables' rules; the daemon counts from when these began.
  daemon.command({"reload"});
  CHECK(way_of_new_flows(lab, listeners) == "through");
  const std::string since = firewall == "nft" ? "4" : "2";
  CHECK_THAT(Diagnosis{daemon}.line("syn_path"),
             Contains(since + " diverted") && Contains(since + " accepted"));
}

TEST_CASE("doctor: SYNs that come by another interface are told from none") {
  const lab::InlineLab lab;
  DaemonSettings settings = plain_settings();
  settings.intercept = "interfaces = [\"lan0\"]\n";
  const Daemon daemon{lab, settings};
  CHECK(way_of_new_flows(lab, listen_in_both(lab)) == "direct");
  CHECK_THAT(Diagnosis{daemon}.line("syn_path"),
             Contains("warn ") && Contains("2 SYNs came, 0 arrived by lan0"));
}

TEST_CASE("doctor: SYNs that no policy takes are told from those that are lost") {
  const lab::InlineLab lab;
  DaemonSettings settings = by(GENERATE("nft", "iptables"));
  settings.policies = "[[policy]]\nname = \"other\"\nto = [\"198.18.2.77\"]\n";
  const Daemon daemon{lab, settings};
  CHECK(way_of_new_flows(lab, listen_in_both(lab)) == "direct");
  CHECK_THAT(Diagnosis{daemon}.line("syn_path"), Contains("warn ") && Contains("2 arrived by wan0") &&
                                                     Contains("0 diverted") && Contains("headrace explain"));
}

TEST_CASE("doctor: SYNs that are diverted and never accepted are a FAIL") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, by(GENERATE("nft", "iptables"))};
  SECTION("dropped on the way in") {
    lab.middle.command({"iptables", "-A", "INPUT", "-p", "tcp", "--dport", "5000", "-j", "DROP"});
  }
  SECTION("by the reverse path filter") { lab.middle.sysctl("net.ipv4.conf.all.src_valid_mark", "1"); }
  SECTION("without their route") { lab.middle.ip("route flush table 18514"); }
  knock(lab, kServer);
  CHECK(Diagnosis{daemon}.is_fine("syn_path"));  // one is no evidence
  for (int i = 0; i < 2; ++i) knock(lab, kServer);
  const Diagnosis diagnosis{daemon};
  INFO(diagnosis.line("syn_path"));
  CHECK(diagnosis.fails("syn_path"));
  CHECK_THAT(diagnosis.line("syn_path"), Contains("3 diverted") && Contains("0 accepted"));
}

TEST_CASE("doctor: a client that does not get the SYN-ACK is told from a SYN that is lost") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  lab.client.command({"iptables", "-A", "INPUT", "-p", "tcp", "-j", "DROP"});
  for (int i = 0; i < 3; ++i) knock(lab, kServer);
  CHECK_THAT(Diagnosis{daemon}.line("syn_path"),
             Contains("warn ") && Contains("3 handshakes wait for the client's ACK"));
}

TEST_CASE("doctor: the queue under a policy with bbr is named") {
  const lab::InlineLab lab;
  DaemonSettings settings = plain_settings();
  settings.policies += "client_leg = { profile = \"plain\", congestion = \"bbr\" }\n";
  settings.policies.erase(settings.policies.find("client_leg = \"plain\"\n"), 21);
  settings.start = false;
  const Daemon daemon{lab, settings};
  lab.middle.command({"tc", "qdisc", "add", "dev", "lan0", "root", "tbf", "rate", "100mbit", "burst", "32k",
                      "latency", "50ms"});
  const Diagnosis diagnosis{daemon};
  INFO(diagnosis.line("pacing"));
  CHECK(diagnosis.warns("pacing"));
  CHECK_THAT(diagnosis.line("pacing"), Contains("\"all\"") && Contains("lan0 tbf") && Contains("root fq"));
  daemon.write_policies(
      "[[policy]]\nname = \"all\"\nto = [\"any\"]\nclient_leg = \"wan-bulk\"\n"
      "server_leg = { profile = \"lan\", congestion = \"cubic\" }\n");
  CHECK_THAT(Diagnosis{daemon}.line("pacing"), Contains("lan0 tbf"));
}

TEST_CASE("doctor: a path that loses large packets and its ICMP is named, and its mend mends it") {
  const lab::InlineLab lab;
  const FarHost far{lab, FarHost::Behind::server};
  lab.server.command({"iptables", "-A", "OUTPUT", "-p", "icmp", "-j", "DROP"});
  DaemonSettings settings;
  settings.start = true;
  const Daemon daemon{lab, settings};
  CHECK(Diagnosis{daemon}.is_fine("path_mtu"));
  const auto listener = lab::Socket::listen(far.host(), lab::endpoint(far.address(false), 5000));
  const auto hung = converse(lab, listener);
  CHECK(speaks(hung));
  CHECK(hung.client.send_all(lab::pattern(20'000)) == lab::End::done);
  CHECK(eventually([&] { return Diagnosis{daemon}.warns("path_mtu"); }));
  CHECK_THAT(Diagnosis{daemon}.line("path_mtu"),
             Contains("to " + listener.local()) && Contains("tcp_mtu_probing=1"));
  lab.middle.sysctl("net.ipv4.tcp_mtu_probing", "1");
  CHECK(hung.server.receive_exactly(20'000, 20s).bytes == lab::pattern(20'000));
  CHECK(Diagnosis{daemon}.is_fine("path_mtu"));
}
