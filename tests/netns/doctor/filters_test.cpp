// SPDX-License-Identifier: GPL-3.0-or-later
// Other people's packet filters beside ours.
#include "tests/netns/doctor/patient.hpp"
#include "tests/test.hpp"

using namespace headrace;
using Catch::Matchers::Contains;

namespace {

void add_chain(const lab::InlineLab& lab, const std::string& type, const std::string& rules) {
  lab.middle.command({"nft", "-f", "-"},
                     "table inet theirs {\n  chain c {\n    type " + type + ";\n" + rules + "\n  }\n}\n");
}

}  // namespace

TEST_CASE("doctor: masquerading on this host is named, by either tool") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  SECTION("nft") { add_chain(lab, "nat hook postrouting priority srcnat", "oifname \"lan0\" masquerade"); }
  SECTION("nft snat") {
    add_chain(lab, "nat hook postrouting priority srcnat",
              "ip daddr 0.0.0.0/0 counter snat ip to 198.18.2.1");
  }
  SECTION("iptables") {
    lab.middle.command({"iptables", "-t", "nat", "-A", "POSTROUTING", "-o", "lan0", "-j", "MASQUERADE"});
  }
  SECTION("ip6tables") {
    lab.middle.command({"ip6tables", "-t", "nat", "-A", "POSTROUTING", "-o", "lan0", "-j", "MASQUERADE"});
  }
  const Diagnosis diagnosis{daemon};
  INFO(diagnosis.line("source_nat"));
  CHECK_FALSE(diagnosis.is_fine("source_nat"));
  CHECK_THAT(diagnosis.line("source_nat"), Contains("connect_as = \"proxy\""));
  daemon.write_policies("[[policy]]\nname = \"all\"\nto = [\"any\"]\nconnect_as = \"proxy\"\n");
  CHECK(Diagnosis{daemon}.is_fine("source_nat"));
}

TEST_CASE("doctor: what the legacy iptables hold is read beside the others") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  const std::string tool = GENERATE("iptables-legacy", "ip6tables-legacy");
  try {
    lab.middle.command({tool, "-t", "nat", "-A", "POSTROUTING", "-o", "lan0", "-j", "MASQUERADE"});
  } catch (const std::exception& error) {
    WARN("SKIPPED: this host has no legacy iptables: " << error.what());
    return;
  }
  const Diagnosis diagnosis{daemon};
  CHECK(diagnosis.fails("source_nat"));
  CHECK_THAT(diagnosis.line("source_nat"), Contains("nat POSTROUTING: -A POSTROUTING -o lan0 -j MASQUERADE"));
}

TEST_CASE("doctor: a rule that sets our mark is named, by either tool") {
  const lab::InlineLab lab;
  DaemonSettings settings = plain_settings();
  settings.intercept += GENERATE("", "firewall = \"iptables\"\n");
  const Daemon daemon{lab, settings};
  SECTION("nft") { add_chain(lab, "filter hook prerouting priority -160", "meta mark set 0x480000"); }
  SECTION("iptables") {
    lab.middle.command(
        {"iptables", "-t", "mangle", "-A", "PREROUTING", "-j", "MARK", "--set-mark", "0x480000"});
  }
  CHECK(Diagnosis{daemon}.fails("marks"));
}

TEST_CASE("doctor: a rule that only uses other bits is fine") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  add_chain(lab, "filter hook prerouting priority -140", "meta mark set meta mark & 0xfffffff0 | 0x1");
  lab.middle.command(
      {"iptables", "-t", "mangle", "-A", "PREROUTING", "-j", "MARK", "--set-xmark", "0x2/0xf"});
  const Diagnosis diagnosis{daemon};
  INFO(diagnosis.line("marks"));
  CHECK(diagnosis.is_fine("marks"));
}

TEST_CASE("doctor: an input chain that drops the unknown is named, and its mend mends it") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  add_chain(lab, "filter hook input priority filter; policy drop", "ct state established,related accept");
  CHECK(Diagnosis{daemon}.fails("input_rules"));
  lab.middle.command({"nft", "insert", "rule", "inet", "theirs", "c", "meta", "mark", "&", "0x00ff0000",
                      "==", "0x00480000", "accept"});
  CHECK(Diagnosis{daemon}.is_fine("input_rules"));
}

TEST_CASE("doctor: prerouting rules that take packets are named, ct state invalid is fine") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  SECTION("invalid") {
    add_chain(lab, "filter hook prerouting priority -160", "ct state invalid drop");
    CHECK(Diagnosis{daemon}.is_fine("earlier_rules"));
  }
  SECTION("reverse path by mark") {
    add_chain(lab, "filter hook prerouting priority filter + 10", "fib saddr . mark . iif oif missing drop");
    CHECK(Diagnosis{daemon}.fails("earlier_rules"));
  }
  SECTION("dropped") {
    add_chain(lab, "filter hook prerouting priority -160", "tcp dport 5000 drop");
    CHECK(Diagnosis{daemon}.warns("earlier_rules"));
  }
}

TEST_CASE("doctor: destination translation is named") {
  const lab::InlineLab lab;
  DaemonSettings settings = plain_settings();
  const bool iptables = GENERATE(false, true);
  if (iptables) settings.intercept += "firewall = \"iptables\"\n";
  const Daemon daemon{lab, settings};
  add_chain(lab, "nat hook prerouting priority dstnat", "tcp dport 1521 dnat ip to 198.18.2.2");
  CHECK(Diagnosis{daemon}.warns("destination_nat") == iptables);
  CHECK_THAT(Diagnosis{daemon}.line("destination_nat"), Contains("dnat ip to 198.18.2.2"));
}

TEST_CASE("doctor: a daemon without rules and rules without a daemon are named") {
  const lab::InlineLab lab;
  DaemonSettings settings = plain_settings();
  const bool iptables = GENERATE(false, true);
  if (iptables) settings.intercept += "firewall = \"iptables\"\n";
  Daemon daemon{lab, settings};
  CHECK(Diagnosis{daemon}.is_fine("diversion"));
  daemon.kill();
  const Diagnosis diagnosis{daemon};
  INFO(diagnosis.line("diversion"));
  CHECK(diagnosis.fails("diversion") == iptables);
  CHECK(diagnosis.warns("diversion") == !iptables);
  CHECK_THAT(diagnosis.line("diversion"), Contains("headrace net down"));
  daemon.command({"net", "down"});
  CHECK(Diagnosis{daemon}.fails("route"));
  CHECK_THAT(Diagnosis{daemon}.line("diversion"), Contains("no daemon answers"));
}
