// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/proxy_doctor/rig.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace headrace::doctor;
using Catch::Matchers::Contains;

TEST_CASE("doctor: a missing capability is named") {
  Host host;
  host.facts.capabilities.net_raw = false;
  CHECK(host.status("capabilities") == Status::fail);
  CHECK_THAT(host.judged("capabilities").text, Contains("CAP_NET_RAW"));
  host.facts.capabilities = {false, true, true, true, false};
  CHECK_THAT(host.judged("capabilities").text, Contains("CAP_NET_ADMIN"));
  host.facts.capabilities = {true, true, false, true, false};
  CHECK(host.status("capabilities") == Status::warn);
  host.facts.sysctls["net.ipv4.ip_unprivileged_port_start"] = "0";
  CHECK(host.status("capabilities") == Status::ok);
  host.facts.capabilities.bpf = false;
  CHECK(host.status("capabilities") == Status::warn);
}

TEST_CASE("doctor: a running daemon has given up CAP_BPF, and needs the others") {
  Host host;
  host.facts.of_daemon = true;
  host.facts.daemon.pid = 17;
  host.facts.capabilities.bpf = false;
  CHECK(host.status("capabilities") == Status::ok);
  host.facts.capabilities.net_admin = false;
  CHECK_THAT(host.judged("capabilities").text, Contains("the daemon (pid 17) lacks CAP_NET_ADMIN"));
}

TEST_CASE("doctor: what could not be read is said") {
  Host host;
  host.facts.unread = {"nft: not installed"};
  CHECK(host.status("facts") == Status::warn);
  CHECK_THAT(host.judged("facts").text, Contains("nft: not installed"));
}

TEST_CASE("doctor: rules that the kernel refuses are a failure, with the modules to load") {
  Host host;
  host.facts.rules_refused = "Could not process rule: No such file or directory";
  CHECK(host.status("kernel_rules") == Status::fail);
  CHECK_THAT(host.judged("kernel_rules").mend, Contains("nft_tproxy"));
  host.configure(kPolicy, "interfaces = [\"wan0\"]\nfirewall = \"iptables\"\n");
  CHECK_THAT(host.judged("kernel_rules").mend, Contains("xt_TPROXY"));
  host.configure(kPolicy, "mode = \"off\"\n");
  CHECK(host.status("kernel_rules") == Status::ok);
}

TEST_CASE("doctor: the packet queue is judged where a policy holds SYNs") {
  Host host;
  host.facts.no_syn_queue = "needs a queue";
  CHECK(host.status("syn_queue") == Status::ok);
  host.configure(std::string{kPolicy} + "accept = \"verified\"\n");
  CHECK_THAT(host.judged("syn_queue").text, Contains("accept = \"verified\" needs a queue"));
  CHECK(host.status("syn_queue") == Status::fail);
  host.facts.no_syn_queue.clear();
  host.facts.daemon.answers = true;
  CHECK(host.status("syn_queue") == Status::fail);
  host.facts.syn_queue = PacketQueue{3, 0};
  CHECK(host.status("syn_queue") == Status::ok);
  CHECK_THAT(host.judged("syn_queue").text, Contains("3 SYNs are held in packet queue 18514"));
  host.facts.syn_queue = PacketQueue{3, 9};
  CHECK(host.status("syn_queue") == Status::warn);
}

TEST_CASE("doctor: settings that do not come true are listed") {
  Host host;
  host.facts.refused_settings = {"profile lan: setsockopt(TCP_CONGESTION, bbr) is refused"};
  CHECK(host.status("kernel_options") == Status::warn);
  host.facts.refused_settings.clear();
  host.configuration.warnings = {{{"f.toml", 3, 1}, "left out"}};
  CHECK_THAT(host.judged("kernel_options").text, Contains("f.toml:3:1: left out"));
}

TEST_CASE("doctor: bbr under bursts is a warning") {
  Host host;
  host.facts.environment.default_congestion = "bbr";
  CHECK(host.status("congestion") == Status::ok);  // wan-interactive says cubic
  CHECK(host.judged_alone("congestion").status == Status::warn);
  host.configure("[[policy]]\nname = \"q\"\nto = [\"198.18.2.9\"]\nclient_leg = \"lan\"\n");
  CHECK(host.status("congestion") == Status::warn);
  CHECK_THAT(host.judged("congestion").text, Contains("\"q\""));
  host.facts.environment.default_congestion = "cubic";
  CHECK(host.status("congestion") == Status::ok);
  host.configure(
      "[[policy]]\nname = \"q\"\nto = [\"198.18.2.9\"]\n"
      "client_leg = { profile = \"lan\", congestion = \"bbr\" }\n");
  CHECK(host.status("congestion") == Status::warn);
}

TEST_CASE("doctor: the idle restart is named where a policy wants bursts") {
  Host host;
  host.facts.sysctls["net.ipv4.tcp_slow_start_after_idle"] = "1";
  CHECK(host.status("idle_restart") == Status::warn);
  CHECK_THAT(host.judged("idle_restart").mend, Contains("slow_start_after_idle = false"));
  CHECK(host.judged_alone("idle_restart").status == Status::ok);
  host.configure("[[policy]]\nname = \"q\"\nto = [\"198.18.2.9\"]\nclient_leg = \"lan\"\n");
  CHECK(host.status("idle_restart") == Status::ok);
}
