// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/settings.hpp"

#include "tests/config/loading.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace headrace::testing;
using namespace std::chrono_literals;

TEST_CASE("settings: every key is read") {
  const Settings settings = load(R"(
policy_files = ["policies.d/*.toml", "more/*.toml"]
workers = 4
busy_poll = "50us"
[intercept]
mode = "redirect"
firewall = "iptables"
interfaces = ["eth1", "ppp*"]
never = ["198.18.0.0/15", 22, "20-21", "198.18.1.2:1521", "[2001:db8::/32]:80-81", "2001:db8::1", "198.19.0.0/16:25"]
listener_ports = "20000-20009"
mark = "0x100/0x700"
table = 77
[limits]
sessions = 5000
sessions_per_client = 200
overload = "refuse"
memory = "512MiB"
[timeouts]
connect = "5s"
idle = "2h"
half_closed = "10m"
drain = "30s"
[admin]
socket = "/tmp/admin.sock"
metrics = "off"
[log]
level = "debug"
format = "json"
sessions = false
)")
                                .settings;
  CHECK(settings.workers == 4);
  CHECK(settings.busy_poll == Duration{50us});
  CHECK(settings.intercept.mode == InterceptMode::redirect);
  CHECK(settings.intercept.firewall == Firewall::iptables);
  CHECK(settings.intercept.interfaces == std::vector<std::string>{"eth1", "ppp*"});
  CHECK(settings.intercept.listener_ports == PortRange{20000, 20009});
  CHECK(settings.intercept.mark == MarkAndMask{0x100, 0x700});
  CHECK(settings.intercept.mark.server_mark() == 0x200);
  CHECK(settings.intercept.table == 77);
  CHECK(settings.limits.sessions == 5000);
  CHECK_FALSE(settings.limits.sessions_per_client.is_share);
  CHECK(settings.limits.sessions_per_client.count == 200);
  CHECK(settings.limits.overload == Overload::refuse);
  CHECK(settings.limits.memory == Bytes{512U * 1024 * 1024});
  CHECK(settings.timeouts.connect == Duration{5s});
  CHECK(settings.timeouts.idle == Duration{2h});
  CHECK(settings.timeouts.half_closed == Duration{10min});
  CHECK(settings.timeouts.drain == Duration{30s});
  CHECK(settings.admin.socket == "/tmp/admin.sock");
  CHECK(settings.log == LogSettings{LogLevel::debug, LogFormat::json, false});
}

TEST_CASE("settings: what is never intercepted may be an address, ports or both") {
  const auto never = load(R"(
[intercept]
never = ["198.18.0.0/15", 22, "20-21", "198.18.1.2:1521", "[2001:db8::/32]:80-81", "2001:db8::1", "198.19.0.0/16:25"]
)")
                         .settings.intercept.never;
  const auto prefix = [](const char* text) { return *parse_prefix(text); };
  CHECK(never == std::vector<Exemption>{{prefix("198.18.0.0/15"), std::nullopt},
                                        {std::nullopt, PortRange{22, 22}},
                                        {std::nullopt, PortRange{20, 21}},
                                        {prefix("198.18.1.2"), PortRange{1521, 1521}},
                                        {prefix("2001:db8::/32"), PortRange{80, 81}},
                                        {prefix("2001:db8::1"), std::nullopt},
                                        {prefix("198.19.0.0/16"), PortRange{25, 25}}});
}

TEST_CASE("settings: how long a failed server is left to the kernel has bounds, and needs nft") {
  const auto after = [](const std::string& text) { return load(text).settings.timeouts.failed_server; };
  CHECK(after("# none\n") == Duration{10s});
  CHECK(after("[timeouts]\nfailed_server = \"100ms\"\n") == Duration{100ms});
  CHECK(after("[timeouts]\nfailed_server = \"10m\"\n") == Duration{10min});
  CHECK(after("[timeouts]\nfailed_server = \"off\"\n") == std::nullopt);
  CHECK(after("[intercept]\nfirewall = \"iptables\"\n") == std::nullopt);
  CHECK(after("[intercept]\nfirewall = \"iptables\"\n[timeouts]\nfailed_server = \"off\"\n") == std::nullopt);
}

TEST_CASE("settings: a share of the sessions is a percentage") {
  const Settings settings = load("[limits]\nsessions_per_client = \"25%\"\n").settings;
  CHECK(settings.limits.sessions_per_client.is_share);
  CHECK(settings.limits.sessions_per_client.share == Approx(0.25));
}

TEST_CASE("settings: a forwarder listens on loopback for a bare port and gets the default profiles") {
  const auto forwards = load(R"(
[[forward]]
listen = "1522"
to = "198.18.9.5:1521"
[[forward]]
listen = "[::]:1523"
to = "[2001:db8::5]:1521"
client_leg = { congestion = "reno" }
server_leg = "plain"
)")
                            .settings.forwards;
  REQUIRE(forwards.size() == 2);
  CHECK(print(forwards[0].listen) == "127.0.0.1:1522");
  CHECK(forwards[0].client_leg->profile == "wan-interactive");
  CHECK(forwards[0].server_leg->profile == "lan");
  CHECK(forwards[0].where.line == 2);
  CHECK(forwards[1].client_leg->profile == "wan-interactive+");
  CHECK(forwards[1].client_leg->settings.congestion->name == "reno");
  CHECK(forwards[1].server_leg->profile == "plain");
}

TEST_CASE("settings: kernel keys become full sysctl names and keep takes a default back") {
  const auto kernel = load(R"(
[kernel]
migrate_req = "keep"
slow_start_after_idle = false
timestamps = 2
reordering = 2
rmem = "4096  131072 6291456"
wmem_max = "4MiB"
tw_reuse = true
)")
                          .settings.kernel;
  CHECK(kernel == KernelSettings{{"net.ipv4.tcp_slow_start_after_idle", "0"},
                                 {"net.ipv4.tcp_timestamps", "2"},
                                 {"net.ipv4.tcp_reordering", "2"},
                                 {"net.ipv4.tcp_rmem", "4096 131072 6291456"},
                                 {"net.core.wmem_max", "4194304"},
                                 {"net.ipv4.tcp_tw_reuse", "1"}});
  CHECK(load("# none\n").settings.kernel == KernelSettings{{"net.ipv4.tcp_migrate_req", "1"}});
}
