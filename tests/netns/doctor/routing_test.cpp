// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/doctor/patient.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;
using Catch::Matchers::Contains;

TEST_CASE("doctor: a rule or route of ours that is gone is named") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  SECTION("rule") {
    lab.middle.command({"ip", "-6", "rule", "del", "pref", "185"});
    CHECK_THAT(Diagnosis{daemon}.line("route"),
               Contains("IPv6 rule for fwmark") && Contains("headrace net up"));
  }
  SECTION("route") {
    lab.middle.ip("route flush table 18514");
    CHECK_THAT(Diagnosis{daemon}.line("route"), Contains("IPv4 local route in table 18514 is missing"));
  }
  CHECK(Diagnosis{daemon}.fails("route"));
  daemon.command({"net", "up"});
  CHECK(Diagnosis{daemon}.is_fine("route"));
}

TEST_CASE("doctor: a foreign ip rule before ours is named, one behind it is not") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  lab.middle.ip("rule add pref 1000 fwmark 0x480000/0xff0000 lookup main");
  CHECK(Diagnosis{daemon}.is_fine("ip_rules"));
  lab.middle.ip(
      GENERATE("rule add pref 100 fwmark 0x480000/0xff0000 lookup main", "rule add pref 100 lookup main"));
  const Diagnosis diagnosis{daemon};
  CHECK(diagnosis.fails("ip_rules"));
  CHECK_THAT(diagnosis.line("ip_rules"), Contains("100: from all") && Contains("ip -4 rule del pref 100"));
}

TEST_CASE("doctor: a probed flow is followed both ways by the routes") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  const auto asymmetry = [&](const char* client, const std::string& to) {
    return Diagnosis{daemon, {"--probe", client, to}}.line("asymmetry");
  };
  CHECK_THAT(asymmetry(lab::kClient4, lab::endpoint(lab::kServer4, 5000)),
             Contains("ok ") && Contains("by wan0"));
  CHECK_THAT(asymmetry(lab::kClient6, lab::kServer6), Contains("ok ") && Contains("by lan0"));
  CHECK_THAT(asymmetry(lab::kClient4, lab::kMiddleLan4), Contains("fail") && Contains("this host itself"));
  CHECK_THAT(asymmetry(lab::kClient4, "192.0.2.1"), Contains("fail") && Contains("no route"));
  lab.middle.ip("route add 198.18.7.0/24 via 198.18.2.2");
  CHECK_THAT(asymmetry("198.18.7.7", lab::kServer4), Contains("fail") && Contains("does not name lan0"));
  CHECK_THAT(asymmetry(lab::kClient4, "198.18.7.7:80"), Contains("fail") && Contains("no policy"));
  CHECK(daemon.try_command({"doctor", "--probe", lab::kClient4, lab::kServer6}).status == 2);
}

TEST_CASE("doctor: several default routes are named") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  lab.middle.ip("route add default nexthop via 198.18.2.2 nexthop via 198.18.1.2");
  CHECK(Diagnosis{daemon}.warns("multipath"));
  lab.middle.sysctl("net.ipv4.fib_multipath_hash_policy", "1");
  CHECK(Diagnosis{daemon}.is_fine("multipath"));
}
