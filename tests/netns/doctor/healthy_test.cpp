// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/doctor/patient.hpp"
#include "tests/test.hpp"

using namespace headrace;
using Catch::Matchers::Contains;

TEST_CASE("doctor: a healthy host with a running daemon has no FAIL") {
  const lab::InlineLab lab;
  DaemonSettings settings = plain_settings();
  settings.intercept += GENERATE("", "firewall = \"iptables\"\n");
  const Daemon daemon{lab, settings};
  const Diagnosis diagnosis{daemon};
  INFO(diagnosis.all());
  CHECK(diagnosis.exit_status() == 0);
  CHECK(diagnosis.json().at("ok") == true);
  for (const char* check : {"facts", "kernel_rules", "diversion", "route", "ip_rules", "earlier_rules",
                            "input_rules", "marks", "source_nat", "src_valid_mark", "rp_filter", "ip_forward",
                            "interfaces", "bridge_vrf", "tcp_migrate_req"}) {
    INFO(diagnosis.line(check));
    CHECK(diagnosis.is_fine(check));
  }
}

TEST_CASE("doctor: each line is for people, and says the same") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  lab.middle.sysctl("net.ipv4.ip_forward", "0");
  const auto outcome = daemon.try_command({"doctor"});
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.output, Contains("ok   route: ") && Contains("FAIL ip_forward: ") &&
                                 Contains(". Mend: sysctl -w net.ipv4.ip_forward=1\n"));
}

TEST_CASE("doctor: without a readable file the host alone is examined, and it says so") {
  const lab::InlineLab lab;
  lab::Process process{lab.middle, {HEADRACE_PROGRAM, "doctor", "-c", "/nonexistent/headrace.toml"}};
  const auto status = process.wait(std::chrono::seconds{10});
  REQUIRE(status);
  CHECK(status->code == 0);
  CHECK_THAT(process.output(), Contains("warn configuration: ") && Contains("only the host is checked") &&
                                   Contains("ok   src_valid_mark: ") && !Contains("diversion"));
}

TEST_CASE("doctor: a file with a mistake is a FAIL, and the host is examined all the same") {
  const lab::InlineLab lab;
  DaemonSettings settings = plain_settings();
  settings.net_up = false;
  settings.start = false;
  settings.policies = "[[policy]]\nnam = 1\n";
  const Daemon daemon{lab, settings};
  const Diagnosis diagnosis{daemon};
  CHECK(diagnosis.exit_status() == 1);
  CHECK(diagnosis.fails("configuration"));
  CHECK_THAT(diagnosis.line("configuration"), Contains("10-test.toml:1:") && Contains("headrace check"));
  CHECK(diagnosis.is_fine("src_valid_mark"));
}

TEST_CASE("doctor: without privileges the missing ones are named") {
  const lab::InlineLab lab;
  lab::Process process{lab.middle,
                       {"setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=-all", HEADRACE_PROGRAM,
                        "doctor", "-c", "/nonexistent/headrace.toml"}};
  const auto status = process.wait(std::chrono::seconds{10});
  REQUIRE(status);
  INFO(process.output());
  CHECK(status->code == 1);
  CHECK_THAT(process.output(), Contains("FAIL capabilities: ") && Contains("CAP_NET_ADMIN"));
}
