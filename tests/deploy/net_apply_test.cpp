// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/net_apply.hpp"

#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "bench/lab/namespace.hpp"
#include "bench/lab/temp_dir.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kIdle = "net.ipv4.tcp_slow_start_after_idle";
constexpr const char* kMigrate = "net.ipv4.tcp_migrate_req";
constexpr const char* kPorts = "net.ipv4.ip_local_port_range";

// One host of its own, and what would be done to it.
struct Host {
  lab::Namespace ns{"net-up"};
  lab::TempDir dir;
  std::string state_file = dir / "state" / "net.json";
  HostPlan plan = plan_host(settings(), true);

  static Settings settings() {
    Settings settings;
    settings.kernel = {{kIdle, "0"}, {kPorts, "20000 60000"}};
    return settings;
  }
  void up() {
    ns.run([this] { net_up(plan, state_file); });
  }
  void down() {
    ns.run([this] { net_down(plan, state_file); });
  }
  std::vector<std::string> differences() {
    return ns.run([this] { return net_differences(plan); });
  }
  // Everything that `net up` can touch.
  std::string snapshot() const {
    std::string all;
    for (const char* name : {kIdle, kMigrate, kPorts}) all += ns.sysctl(name) + "\n";
    for (const char* family : {"-4", "-6"}) {
      all += ns.command({"ip", family, "rule"}) + ns.command({"ip", family, "route", "show", "table", "all"});
    }
    return all;
  }
};

TEST_CASE("net up: everything is in place afterwards, and everything is back after net down") {
  Host host;
  const std::string before = host.snapshot();
  CHECK(host.differences().size() == 4 + 3);
  host.up();
  CHECK(host.differences().empty());
  CHECK(host.ns.sysctl(kMigrate) == "1");
  CHECK_THAT(host.ns.command({"ip", "rule"}),
             Contains("185:\tfrom all fwmark 0x480000/0xff0000 lookup 18514"));
  host.down();
  CHECK(host.snapshot() == before);
  CHECK_FALSE(std::filesystem::exists(host.state_file));
}

TEST_CASE("net up: a second time changes nothing and keeps the recorded originals") {
  Host host;
  host.ns.sysctl(kPorts, "30000 40000");
  const std::string before = host.snapshot();
  host.up();
  const std::string after = host.snapshot();
  host.up();
  CHECK(host.snapshot() == after);
  host.down();
  CHECK(host.snapshot() == before);
}

TEST_CASE("net up: a setting that the configuration no longer names goes back") {
  Host host;
  const std::string before = host.snapshot();
  host.up();
  host.plan.sysctls.erase(kIdle);
  host.up();
  CHECK(host.ns.sysctl(kIdle) == "1");
  host.down();
  CHECK(host.snapshot() == before);
}

TEST_CASE("net up: what somebody took away is put back") {
  Host host;
  host.up();
  host.ns.ip("rule del pref 185");
  host.ns.command({"ip", "-6", "route", "flush", "table", "18514"});
  host.ns.sysctl(kIdle, "1");
  CHECK(host.differences().size() == 3);
  host.up();
  CHECK(host.differences().empty());
}

TEST_CASE("net down: works where only a part is present, and where nothing is") {
  Host host;
  const std::string before = host.snapshot();
  host.down();
  host.up();
  host.ns.ip("rule del pref 185\nroute flush table 18514");
  host.down();
  CHECK(host.snapshot() == before);
}

TEST_CASE("net down: other people's rules and routes stay") {
  Host host;
  host.ns.ip(
      "rule add pref 185 fwmark 0x1 lookup 18514\nrule add pref 184 fwmark 0x480000/0xff0000 lookup 77\n"
      "route add 192.0.2.0/24 dev lo table 18514");
  const std::string before = host.snapshot();
  host.up();
  host.down();
  CHECK(host.snapshot() == before);
}

// The configuration is edited after `net up`.
void edit(Host& host) {
  Settings edited = Host::settings();
  SECTION("the mark") { edited.intercept.mark = {0x10, 0xf0}; }
  SECTION("the table") { edited.intercept.table = 77; }
  SECTION("the mode") { edited.intercept.mode = InterceptMode::redirect; }
  host.plan = plan_host(edited, true);
}

TEST_CASE("net down: takes out what net up put in, though mark, table or mode have been edited since") {
  Host host;
  const std::string before = host.snapshot();
  host.up();
  edit(host);
  host.down();
  CHECK(host.snapshot() == before);
}

TEST_CASE("net up: by another mark, table or mode puts it in the place of the old one") {
  Host host;
  const std::string before = host.snapshot();
  host.up();
  edit(host);
  host.up();
  CHECK(host.differences().empty());
  CHECK_THAT(host.ns.command({"ip", "rule"}), !Contains("0x480000/0xff0000 lookup 18514"));
  host.down();
  CHECK(host.snapshot() == before);
}

TEST_CASE("net up: a family that comes or goes leaves the other's rule and route in the kernel") {
  Host host;
  const auto plan = [](bool ipv6) { return plan_host(Host::settings(), ipv6); };
  const bool comes = GENERATE(true, false);
  host.plan = plan(!comes);
  host.up();
  // Rules of one preference stand in the order in which they came: ours would come back behind this one.
  host.ns.ip("rule add pref 185 fwmark 0x1 lookup 77");
  const std::string before = host.ns.command({"ip", "-4", "rule"});
  host.plan = plan(comes);
  CHECK_FALSE(host.ns.run([&host] { return net_up_replaces(host.plan, host.state_file); }));
  host.up();
  CHECK(host.differences().empty());
  CHECK(host.ns.command({"ip", "-4", "rule"}) == before);
  const std::string rules_of_ipv6 = host.ns.command({"ip", "-6", "rule"});
  CHECK((rules_of_ipv6.find("lookup 18514") != std::string::npos) == comes);
}

TEST_CASE("net down: what the configuration names now and net up never put in is other people's") {
  Host host;
  host.ns.ip("route add local default dev lo table 77");
  const std::string before = host.snapshot();
  host.up();
  Settings edited = Host::settings();
  edited.intercept.table = 77;
  host.plan = plan_host(edited, true);
  host.down();
  CHECK(host.snapshot() == before);
}

TEST_CASE("net up: a setting that does not exist changes nothing and is named") {
  Host host;
  const std::string before = host.snapshot();
  host.plan.sysctls["net.ipv4.tcp_no_such"] = "1";
  CHECK_THROWS_WITH(host.up(), Contains("net.ipv4.tcp_no_such"));
  CHECK(host.snapshot() == before);
  CHECK_THAT(host.differences(), Catch::Matchers::VectorContains(
                                     std::string{"net.ipv4.tcp_no_such does not exist here (wanted 1)"}));
}

// Runs `net up` in a process that is killed at its nth system call. False when it came to its end first.
bool killed_at(Host& host, int nth) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t child = ::fork();
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    host.up();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_EXITKILL);
  while (nth-- > 0 && WIFSTOPPED(status)) {
    ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    ::waitpid(child, &status, 0);
  }
  const bool stopped = WIFSTOPPED(status);
  if (stopped) ::kill(child, SIGKILL);
  while (::waitpid(-1, nullptr, 0) > 0) {  // also an `ip` that it had just started
  }
  return stopped;
}

TEST_CASE("net up: killed at any point, net down restores everything") {
  Host host;
  const std::string before = host.snapshot();
  int kills = 0;
  // Each system call stops twice; 5 visits entries and exits alike.
  for (int nth = 1; killed_at(host, nth); nth += 5, ++kills) {
    INFO("killed at stop " << nth);
    if (kills % 2 == 1) host.up();
    host.down();
    REQUIRE(host.snapshot() == before);
    REQUIRE(std::filesystem::is_empty(host.dir / "state"));
  }
  CHECK(kills > 30);
}

}  // namespace
}  // namespace headrace
