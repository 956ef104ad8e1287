// SPDX-License-Identifier: GPL-3.0-or-later
// Each test shows what the setting does to a connection, so that the doctor's word for it stays true.
#include "tests/netns/doctor/patient.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

// A client's SYN is answered at all.
bool connects(const lab::InlineLab& lab, const lab::Socket& listener) {
  lab::SocketOptions options;
  options.timeout = 1500ms;
  return lab::Socket::try_connect(lab.client, listener.local(), options).end == lab::End::done;
}

}  // namespace

TEST_CASE("doctor: src_valid_mark stops interception and is named") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  const auto listener = lab::Socket::listen(lab.server, lab::endpoint(lab::kServer4, 5000));
  CHECK(connects(lab, listener));
  const std::string where = GENERATE("all", "wan0");
  lab.middle.sysctl("net.ipv4.conf." + where + ".src_valid_mark", "1");
  CHECK_FALSE(connects(lab, listener));
  const Diagnosis diagnosis{daemon};
  CHECK(diagnosis.exit_status() == 1);
  CHECK(diagnosis.fails("src_valid_mark"));
  CHECK_THAT(diagnosis.line("src_valid_mark"), Contains("net.ipv4.conf." + where + ".src_valid_mark=0"));
}

TEST_CASE("doctor: strict rp_filter is named, and breaks nothing where ways are the same") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  for (const char* where : {"all", "wan0", "lan0"})
    lab.middle.sysctl(std::string{"net.ipv4.conf."} + where + ".rp_filter", "1");
  const auto listener = lab::Socket::listen(lab.server, lab::endpoint(lab::kServer4, 5000));
  const auto conversation = converse(lab, listener);
  CHECK(speaks(conversation));
  CHECK(is_through(lab, conversation));
  const Diagnosis diagnosis{daemon};
  CHECK(diagnosis.exit_status() == 0);
  CHECK(diagnosis.warns("rp_filter"));
  CHECK_THAT(diagnosis.line("rp_filter"), Contains("wan0") && Contains("lan0"));
}

TEST_CASE("doctor: forwarding that is off is named, per family") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  lab.middle.sysctl("net.ipv6.conf.all.forwarding", "0");
  CHECK_THAT(Diagnosis{daemon}.line("ip_forward"), Contains("fail") && Contains("IPv6"));
  lab.middle.sysctl("net.ipv4.ip_forward", "0");
  CHECK_THAT(Diagnosis{daemon}.line("ip_forward"), Contains("fail") && Contains("IPv4"));
}

TEST_CASE("doctor: bridged packets in the IP rules are named") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  try {
    lab.middle.sysctl("net.bridge.bridge-nf-call-iptables", "1");
  } catch (const std::exception& error) {
    WARN("SKIPPED: this kernel has no br_netfilter: " << error.what());
    return;
  }
  CHECK(Diagnosis{daemon}.is_fine("br_netfilter"));
  lab.middle.ip("link add br0 type bridge");
  CHECK(Diagnosis{daemon}.warns("br_netfilter"));
}

TEST_CASE("doctor: tcp_migrate_req that somebody took back is named") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  lab.middle.sysctl("net.ipv4.tcp_migrate_req", "0");
  const Diagnosis diagnosis{daemon};
  CHECK(diagnosis.warns("tcp_migrate_req"));
  CHECK(diagnosis.fails("route"));  // net up promised it
}

TEST_CASE("doctor: the idle restart is named for policies with bursts") {
  const lab::InlineLab lab;
  DaemonSettings settings = plain_settings();
  settings.policies = "[[policy]]\nname = \"sql\"\nto = [\"198.18.2.2\"]\n";
  const Daemon daemon{lab, settings};
  lab.middle.sysctl("net.ipv4.tcp_slow_start_after_idle", "1");
  CHECK(Diagnosis{daemon}.warns("idle_restart"));
  lab.middle.sysctl("net.ipv4.tcp_slow_start_after_idle", "0");
  CHECK(Diagnosis{daemon}.is_fine("idle_restart"));
}
