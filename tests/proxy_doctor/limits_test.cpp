// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/proxy_doctor/rig.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace headrace::doctor;
using Catch::Matchers::Contains;

TEST_CASE("doctor: limits.sessions needs its descriptors") {
  Host host;
  host.facts.descriptors = 1024;
  CHECK(host.status("descriptors") == Status::warn);
  host.configure(kPolicy, "interfaces = [\"wan0\"]\n", "", "[limits]\nsessions = 5000\n");
  CHECK(host.status("descriptors") == Status::fail);
  CHECK_THAT(host.judged("descriptors").mend, Contains("LimitNOFILE=13500"));
  host.facts.descriptors = 13500;
  CHECK(host.status("descriptors") == Status::ok);
}

TEST_CASE("doctor: listener ports are outside of the local range or reserved") {
  Host host;
  host.facts.sysctls["net.ipv4.ip_local_port_range"] = "10240\t65535";
  CHECK(host.status("listener_ports") == Status::warn);
  CHECK(host.judged("listener_ports").mend == "sysctl -w net.ipv4.ip_local_reserved_ports=18500-18627");
  host.facts.sysctls["net.ipv4.ip_local_reserved_ports"] = "8080,18500-18627";
  CHECK(host.status("listener_ports") == Status::ok);
  host.facts.sysctls["net.ipv4.ip_local_reserved_ports"] = "18500-18600";
  CHECK(host.status("listener_ports") == Status::warn);
}

TEST_CASE("doctor: few local ports matter where the kernel picks the server leg's") {
  Host host;
  host.facts.sysctls["net.ipv4.ip_local_port_range"] = "40000\t40099";
  CHECK(host.status("port_reuse") == Status::ok);
  CHECK(host.judged_alone("port_reuse").status == Status::warn);
  host.configure(std::string{kPolicy} + "connect_as = \"proxy\"\n");
  CHECK(host.status("port_reuse") == Status::warn);
  CHECK_THAT(host.judged("port_reuse").text, Contains("100 local ports"));
  host.facts.sysctls["net.ipv4.ip_local_port_range"] = "32768\t60999";
  CHECK_THAT(host.judged("port_reuse").text, Contains("tcp_tw_reuse"));
  host.facts.sysctls["net.ipv4.tcp_tw_reuse"] = "1";
  CHECK(host.status("port_reuse") == Status::ok);
}

TEST_CASE("doctor: a filling conntrack table is named before it is full") {
  Host host;
  host.facts.sysctls["net.netfilter.nf_conntrack_count"] = "220000";
  CHECK(host.status("conntrack") == Status::warn);
  host.facts.sysctls["net.netfilter.nf_conntrack_count"] = "261000";
  CHECK(host.status("conntrack") == Status::fail);
  host.facts.sysctls["net.netfilter.nf_conntrack_count"] = "0";
  host.facts.sysctls["net.netfilter.nf_conntrack_max"] = "4096";
  CHECK_THAT(host.judged("conntrack").text, Contains("two entries each"));
}

TEST_CASE("doctor: overflows of the past are said") {
  Host host;
  host.facts.counters["SyncookiesSent"] = 3;
  CHECK(host.status("syn_cookies") == Status::warn);
  host.facts.sysctls["net.ipv4.tcp_timestamps"] = "0";
  CHECK_THAT(host.judged("syn_cookies").text, Contains("tcp_timestamps = 0"));
  host.facts.counters["ListenDrops"] = 7;
  CHECK(host.status("listen_queue") == Status::warn);
}

TEST_CASE("doctor: queues, buffers and pipes that the host cuts short") {
  Host host;
  host.facts.sysctls["net.core.somaxconn"] = "128";
  CHECK(host.status("somaxconn") == Status::warn);
  host.facts.sysctls["net.ipv4.tcp_migrate_req"] = "0";
  CHECK(host.status("tcp_migrate_req") == Status::warn);
  host.facts.sysctls["fs.pipe-user-pages-soft"] = "1024";
  CHECK(host.status("pipes") == Status::warn);
  host.facts.capabilities.sys_resource = true;
  CHECK(host.status("pipes") == Status::ok);
  host.facts.sysctls["net.ipv4.tcp_wmem"] = "4096 16384 65536";
  CHECK_THAT(host.judged("buffers").text, Contains("tcp_wmem"));
  host.facts.sysctls["net.ipv4.tcp_wmem"] = "4096 16384 4194304";
  host.facts.sysctls["net.ipv4.tcp_sack"] = "0";
  CHECK_THAT(host.judged("buffers").text, Contains("SACK"));
  host.configure(
      "[[policy]]\nname = \"q\"\nto = [\"198.18.2.9\"]\n"
      "client_leg = { profile = \"lan\", send_buffer = \"8MiB\" }\n");
  CHECK_THAT(host.judged("buffers").text, Contains("lan+'s send_buffer 8MiB is cut to 4MiB"));
}

TEST_CASE("doctor: descriptors are the daemon's where one runs") {
  Host host;
  host.facts.daemon.answers = false;
  CHECK_THAT(host.judged("descriptors").text, Contains("this shell's hard limit"));
  host.facts.daemon.answers = true;
  CHECK_THAT(host.judged("descriptors").text, Contains("the daemon's is not visible"));
  host.facts.of_daemon = true;
  host.facts.daemon.pid = 17;
  CHECK_THAT(host.judged("descriptors").text, Contains("the hard limit of the daemon (pid 17)"));
}
