// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/doctor/patient.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;
using Catch::Matchers::Contains;

TEST_CASE("doctor: SYN cookies that were sent are named") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  CHECK(Diagnosis{daemon}.is_fine("syn_cookies"));
  lab.middle.sysctl("net.ipv4.tcp_syncookies", "2");
  const auto listener = lab::Socket::listen(lab.server, lab::endpoint(lab::kServer4, 5000));
  CHECK(speaks(converse(lab, listener)));
  CHECK_THAT(Diagnosis{daemon}.line("syn_cookies"), Contains("warn") && Contains("1 sent"));
}

TEST_CASE("doctor: a listener that overflowed is named") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  lab::SocketOptions options;
  options.backlog = 0;
  const auto full = lab::Socket::listen(lab.middle, "198.18.1.1:7000", options);
  lab::SocketOptions impatient;
  impatient.timeout = std::chrono::milliseconds{300};
  std::vector<lab::Socket::Attempt> attempts;
  for (int i = 0; i < 4; ++i)
    attempts.push_back(lab::Socket::try_connect(lab.client, full.local(), impatient));
  CHECK(Diagnosis{daemon}.warns("listen_queue"));
}

TEST_CASE("doctor: a small range of local ports is named where the kernel picks ports") {
  const lab::InlineLab lab;
  DaemonSettings settings = plain_settings();
  settings.policies += "connect_as = \"proxy\"\n";
  const Daemon daemon{lab, settings};
  lab.middle.sysctl("net.ipv4.ip_local_port_range", "40000 40099");
  CHECK_THAT(Diagnosis{daemon}.line("port_reuse"), Contains("warn") && Contains("100 local ports"));
}

TEST_CASE("doctor: listener ports inside the range of local ports are named until they are reserved") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  lab.middle.sysctl("net.ipv4.ip_local_port_range", "10240 60999");
  CHECK(Diagnosis{daemon}.warns("listener_ports"));
  lab.middle.sysctl("net.ipv4.ip_local_reserved_ports", "18500-18627");
  CHECK(Diagnosis{daemon}.is_fine("listener_ports"));
}

TEST_CASE("doctor: more sessions than descriptors are named") {
  const lab::InlineLab lab;
  DaemonSettings settings = plain_settings();
  settings.start = false;
  settings.more = "[limits]\nsessions = 1000000\n";
  const Daemon daemon{lab, settings};
  const Diagnosis diagnosis{daemon};
  CHECK(diagnosis.fails("descriptors"));
  CHECK_THAT(diagnosis.line("descriptors"), Contains("LimitNOFILE="));
}

TEST_CASE("doctor: a short accept queue is named") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  lab.middle.sysctl("net.core.somaxconn", "128");
  CHECK(Diagnosis{daemon}.warns("somaxconn"));
}

TEST_CASE("doctor: autotuning without room is named") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  lab.middle.sysctl("net.ipv4.tcp_rmem", "4096 65536 131072");
  CHECK_THAT(Diagnosis{daemon}.line("buffers"), Contains("warn") && Contains("tcp_rmem"));
}
