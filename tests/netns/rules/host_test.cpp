// SPDX-License-Identifier: GPL-3.0-or-later
// `net up` and `net down` against what was there before, and against what belongs to others.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <iterator>
#include <sstream>

#include "bench/lab/handle.hpp"
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;

namespace {

// Everything that we could have touched, as text.
std::string host_of(const lab::InlineLab& lab) {
  std::string text;
  for (const char* family : {"-4", "-6"}) {
    text += lab.middle.command({"ip", family, "rule", "show"});
    text += lab.middle.command({"ip", family, "route", "show", "table", "all"});
  }
  for (const char* name : {"tcp_migrate_req", "tcp_reordering", "tcp_slow_start_after_idle"})
    text += name + (" " + lab.middle.sysctl(std::string{"net.ipv4."} + name) + "\n");
  return text + lab.middle.command({"nft", "list", "ruleset"});
}

DaemonSettings with_sysctls() {
  DaemonSettings settings;
  settings.net_up = false;
  settings.start = false;
  settings.more = "[kernel]\nreordering = 5\nslow_start_after_idle = false\n";
  return settings;
}

void edit_mark(const Daemon& daemon) {
  std::string text = lab::read_file(daemon.file());
  text.replace(text.find("[intercept]\n"), 12, "[intercept]\nmark = \"0x00120000/0x00ff0000\"\ntable = 77\n");
  daemon.directory().write("headrace.toml", text);
}

// The kernel tells who asks the user that listened.
lab::Handle bind_claim_as(const lab::InlineLab& lab, uid_t user) {
  constexpr std::string_view kName{"\0headrace-diversion", 19};
  return lab.middle.run([&] {
    lab::Handle holder{lab::checked(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket")};
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, kName.data(), kName.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + kName.size());
    lab::checked(::bind(holder.get(), reinterpret_cast<const sockaddr*>(&name), size), "bind");
    lab::checked(::seteuid(user), "seteuid");
    lab::checked(::listen(holder.get(), 8), "listen");
    lab::checked(::seteuid(0), "seteuid");
    return holder;
  });
}

void add_foreign_rules(const lab::InlineLab& lab) {
  lab.middle.command({"nft", "-f", "-"},
                     "table inet theirs {\n  chain c {\n    type filter hook prerouting "
                     "priority mangle; meta mark set meta mark\n  }\n}\n");
  lab.middle.ip(
      "rule add pref 184 fwmark 0x7 lookup 77\nrule add pref 186 fwmark 0x480000/0xff0000 "
      "lookup 78\nroute add 203.0.113.0/24 dev wan0 table 77");
  lab.middle.command({"iptables", "-t", "mangle", "-A", "PREROUTING", "-s", "203.0.113.9", "-j", "ACCEPT"});
  lab.middle.command({"ip6tables", "-A", "INPUT", "-s", "2001:db8:77::1", "-j", "DROP"});
}

}  // namespace

TEST_CASE("net: up twice is up once, and down restores what was there, after kill -9 too") {
  const lab::InlineLab lab;
  add_foreign_rules(lab);
  const std::string before = host_of(lab);
  Daemon daemon{lab, with_sysctls()};
  daemon.command({"net", "up"});
  const std::string up = host_of(lab);
  CHECK(up != before);
  daemon.command({"net", "up"});
  CHECK(host_of(lab) == up);
  CHECK(lab.middle.sysctl("net.ipv4.tcp_reordering") == "5");
  daemon.start();
  daemon.kill();
  daemon.command({"net", "up"});
  daemon.command({"net", "down"});
  CHECK(host_of(lab) == before);
  daemon.command({"net", "down"});
  CHECK(host_of(lab) == before);
}

TEST_CASE("net: what others put into the packet filter and the rules survives a whole life") {
  const lab::InlineLab lab;
  DaemonSettings settings = with_sysctls();
  settings.intercept += GENERATE("", "firewall = \"iptables\"\n");
  // The tables and chains that iptables itself makes stay, empty; they are there from the start.
  for (const char* tool : {"iptables", "ip6tables"})
    for (const char* table : {"raw", "mangle"}) lab.middle.command({tool, "-t", table, "-S"});
  add_foreign_rules(lab);
  Daemon daemon{lab, settings};
  const auto theirs = [&] {
    return lab.middle.command({"nft", "list", "table", "inet", "theirs"}) +
           lab.middle.command({"iptables", "-t", "mangle", "-S", "PREROUTING"}) +
           lab.middle.command({"ip6tables", "-S", "INPUT"}) + lab.middle.command({"ip", "rule", "show"}) +
           lab.middle.command({"ip", "route", "show", "table", "77"});
  };
  const std::string before = theirs();
  daemon.command({"net", "up"});
  daemon.start();
  CHECK(way_of_new_flows(lab, listen_in_both(lab)) == "through");
  daemon.command({"reload"});
  daemon.command({"bypass", "on"});
  daemon.command({"bypass", "off"});
  daemon.kill();
  daemon.start();
  CHECK(way_of_new_flows(lab, listen_in_both(lab)) == "through");
  daemon.command({"drain"});
  CHECK(daemon.wait() == lab::ExitStatus{0, 0});
  daemon.command({"net", "down"});
  CHECK(theirs() == before);
}

TEST_CASE("net: run without `net up` refuses, says what to do, and diverts nothing") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_sysctls()};
  const std::string before = host_of(lab);
  const auto outcome = daemon.try_command({"run"});
  CHECK(outcome.status == 1);
  INFO(outcome.output);
  CHECK(outcome.output.find("headrace net up") != std::string::npos);
  CHECK(host_of(lab) == before);
  CHECK(way_of_new_flows(lab, listen_in_both(lab)) == "direct");
}

TEST_CASE("net: down refuses while a daemon intercepts, names it, and harms nothing") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  const auto listeners = listen_in_both(lab);
  const auto live = converse(lab, listeners.front());
  const std::string before = host_of(lab);
  for (int attempt = 0; attempt < 3; ++attempt) {  // the claim's queue fills with those who asked
    const auto outcome = daemon.try_command({"net", "down"});
    INFO(outcome.output);
    CHECK(outcome.status == 1);
    CHECK(outcome.output.find("headrace drain") != std::string::npos);
    if (attempt == 0) CHECK(outcome.output.find("pid " + std::to_string(daemon.pid())) != std::string::npos);
  }
  CHECK(host_of(lab) == before);
  CHECK(speaks(live));
  CHECK(way_of_new_flows(lab, listeners) == "through");
}

TEST_CASE("net: down --force takes all out under a running daemon") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  daemon.command({"net", "down", "--force"});
  CHECK(lab.middle.command({"ip", "rule"}).find("18514") == std::string::npos);
  CHECK(way_of_new_flows(lab, listen_in_both(lab)) == "direct");
}

TEST_CASE("net: down after an edited mark takes out what net up put in") {
  const lab::InlineLab lab;
  Daemon daemon{lab, with_sysctls()};
  const std::string before = host_of(lab);
  daemon.command({"net", "up"});
  edit_mark(daemon);
  daemon.command({"net", "down"});
  CHECK(host_of(lab) == before);
}

TEST_CASE("net: up by another mark refuses while a daemon intercepts, harms nothing, and --force goes on") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  const auto listeners = listen_in_both(lab);
  const auto live = converse(lab, listeners.front());
  const std::string before = host_of(lab);
  daemon.command({"net", "up"});  // of the same mark: mends what is missing, as ever
  edit_mark(daemon);
  const auto outcome = daemon.try_command({"net", "up"});
  INFO(outcome.output);
  CHECK(outcome.status == 1);
  CHECK(outcome.output.find("headrace net up --force") != std::string::npos);
  CHECK(host_of(lab) == before);
  CHECK(speaks(live));
  daemon.command({"net", "up", "--force"});
  CHECK(lab.middle.command({"ip", "rule"}).find("lookup 77") != std::string::npos);
}

TEST_CASE("net: a flag that the verb does not know is refused as usage") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_sysctls()};
  const std::string before = host_of(lab);
  for (const auto& [verb, flag] : std::vector<std::pair<std::string, std::string>>{
           {"show", "--force"}, {"status", "--force"}, {"show", "--static"}, {"down", "--static"}}) {
    const auto outcome = daemon.try_command({"net", verb, flag});
    INFO(outcome.output);
    CHECK(outcome.status == 2);
    CHECK(outcome.output.find(flag + ": only with net up") != std::string::npos);
  }
  CHECK(host_of(lab) == before);
}

TEST_CASE("net: a claim that a stranger bound does not keep anybody from net down") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_sysctls()};
  const std::string before = host_of(lab);
  daemon.command({"net", "up"});
  const lab::Handle stranger = bind_claim_as(lab, 65534);
  const auto outcome = daemon.try_command({"net", "down"});
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  CHECK(outcome.output.find("uid 65534") != std::string::npos);
  CHECK(host_of(lab) == before);
}

TEST_CASE("net: show offers metrics of a policy's own routes, and the kernel takes them") {
  const lab::InlineLab lab;
  DaemonSettings settings = with_sysctls();
  settings.policies =
      "[[policy]]\nname = \"sql\"\nfrom = [\"198.18.1.0/24\"]\nto = [\"198.18.2.0/24\", "
      "\"2001:db8:2::/64\"]\n"
      "client_leg = { profile = \"lan\", initial_window = 60, quickack = \"always\" }\n"
      "server_leg = { profile = \"lan\", initial_receive_window = 44 }\n";
  const Daemon daemon{lab, settings};
  std::istringstream shown{daemon.command({"net", "show"})};
  int commands = 0;
  for (std::string line; std::getline(shown, line);) {
    if (!line.starts_with("#   ip ")) continue;
    std::istringstream words{line.substr(line.find("ip "))};
    lab.middle.command({std::istream_iterator<std::string>{words}, {}});
    ++commands;
  }
  CHECK(commands == 3);
  const std::string routes =
      lab.middle.command({"ip", "route", "show"}) + lab.middle.command({"ip", "-6", "route", "show"});
  INFO(routes);
  CHECK(routes.find("198.18.1.0/24 dev wan0 proto kernel scope link src 198.18.1.1 initcwnd 60 quickack 1") !=
        std::string::npos);
  CHECK(routes.find("198.18.2.0/24 dev lan0 proto kernel scope link src 198.18.2.1 initrwnd 44") !=
        std::string::npos);
  CHECK(routes.find("2001:db8:2::/64 dev lan0 proto kernel metric 256 initrwnd 44") != std::string::npos);
}
