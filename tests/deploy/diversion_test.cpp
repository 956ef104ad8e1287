// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>
#include <sys/file.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include "bench/lab/handle.hpp"
#include "bench/lab/inline_lab.hpp"
#include "bench/lab/socket.hpp"
#include "bench/lab/temp_dir.hpp"
#include "deploy/command.hpp"
#include "deploy/net_apply.hpp"
#include "tests/deploy/given.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

// The middle host with the rules, and listeners that stand for the daemon's.
struct Diverted {
  explicit Diverted(
      const std::vector<given::PolicyText>& policies = {{{}, {"198.18.2.0/24", "2001:db8:2::/64"}, {}}})
      : given{policies} {
    given.settings.intercept.interfaces = {"wan*"};
    lab.middle.run([this] { net_up(plan_host(given.settings, true), dir / "net.json"); });
  }
  // As a daemon that knows nothing of what is there, or as one that put it in.
  void apply() {
    lab.middle.run([this] { rules = apply_diversion(given.plan()); });
  }
  void change() {
    lab.middle.run([this] { rules = apply_diversion(given.plan(), &rules); });
  }
  void remove() {
    lab.middle.run([this] { remove_diversion(given.settings.intercept.firewall); });
  }
  bool present() {
    return lab.middle.run([this] { return diversion_present(given.settings.intercept.firewall); });
  }
  std::string listed() const { return lab.middle.command({"nft", "-s", "list", "ruleset"}); }
  lab::Socket listen(const std::string& at) const {
    lab::SocketOptions options;
    options.transparent = true;
    return lab::Socket::listen(lab.middle, at, options);
  }

  lab::InlineLab lab;
  lab::TempDir dir;
  given::Host given;
  AppliedDiversion rules;
};

// Of iptables-save: the rest of it holds the time and counts packets.
std::string rules_alone(const std::string& saved) {
  std::istringstream lines{saved};
  std::string kept;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("-A")) kept += line + "\n";
  return kept;
}

// Says whether a connection from the client ended at the server itself.
bool goes_direct(const Diverted& host, const std::string& to) {
  const auto server = lab::Socket::listen(host.lab.server, to);
  const auto attempt = lab::Socket::try_connect(host.lab.client, to);
  return attempt.end == lab::End::done && server.try_accept(1s);
}

const std::string kServer4 = "198.18.2.2:5000";
const std::string kServer6 = "[2001:db8:2::2]:5000";

TEST_CASE("diversion: a new flow reaches the class's listener under the server's address, both families") {
  Diverted host;
  host.given.settings.intercept.firewall = GENERATE(Firewall::nft, Firewall::iptables);
  const auto listener4 = host.listen("127.0.0.1:18500");
  const auto listener6 = host.listen("[::1]:18500");
  host.apply();
  CHECK(host.present());
  const auto client4 = lab::Socket::connect(host.lab.client, kServer4);
  const auto leg4 = listener4.accept();
  CHECK(leg4.local() == kServer4);
  CHECK(leg4.peer() == client4.local());
  const auto client6 = lab::Socket::connect(host.lab.client, kServer6);
  CHECK(listener6.accept().local() == kServer6);
  CHECK(client4.send_all("hello") == lab::End::done);
  CHECK(leg4.receive_exactly(5).bytes == "hello");
}

TEST_CASE("diversion: without a listener a new flow goes to the server, both families") {
  Diverted host;
  host.apply();
  CHECK(goes_direct(host, kServer4));
  CHECK(goes_direct(host, kServer6));
}

TEST_CASE("diversion: a class without a listener doesn't fall into another class") {
  Diverted host{{{{}, {"198.18.2.2"}, {}, "a"}, {{}, {"any"}, {}, "b"}}};
  const auto other = host.listen("127.0.0.1:18501");
  host.apply();
  CHECK(goes_direct(host, kServer4));
}

TEST_CASE("diversion: bypass, exemptions, port 179 and this host's own addresses are left alone") {
  Diverted host{{{{}, {"198.18.2.2"}, {"5000"}, "bypass"}, {{}, {"any"}, {}, "a"}}};
  host.given.settings.intercept.never = {{std::nullopt, PortRange{5001, 5001}}};
  host.given.settings.intercept.firewall = GENERATE(Firewall::nft, Firewall::iptables);
  const auto listener = host.listen("127.0.0.1:18500");
  host.apply();
  for (const char* port : {"5000", "5001", "179"})
    CHECK(goes_direct(host, std::string{"198.18.2.2:"} + port));
  const auto own = lab::Socket::listen(host.lab.middle, "198.18.1.1:22");
  const auto client = lab::Socket::connect(host.lab.client, "198.18.1.1:22");
  CHECK(own.try_accept(1s));
  CHECK_FALSE(listener.try_accept(0s));
}

TEST_CASE("diversion: starting it leaves a live direct flow alone") {
  Diverted host;
  host.given.settings.intercept.firewall = GENERATE(Firewall::nft, Firewall::iptables);
  const auto server = lab::Socket::listen(host.lab.server, kServer4);
  const auto client = lab::Socket::connect(host.lab.client, kServer4);
  const auto leg = server.accept();
  const auto listener = host.listen("127.0.0.1:18500");
  host.apply();
  CHECK(client.send_all("still here") == lab::End::done);
  CHECK(leg.receive_exactly(10).bytes == "still here");
}

TEST_CASE("diversion: for sessions only, live ones go on and new flows go direct") {
  Diverted host;
  const auto listener = host.listen("127.0.0.1:18500");
  host.apply();
  const auto client = lab::Socket::connect(host.lab.client, kServer4);
  const auto leg = listener.accept();
  host.given.diversion = Diversion::sessions;
  host.apply();
  CHECK(client.send_all("go on") == lab::End::done);
  CHECK(leg.receive_exactly(5).bytes == "go on");
  CHECK(goes_direct(host, kServer4));
}

TEST_CASE("diversion: a handshake made with a SYN cookie finds its class") {
  Diverted host;
  host.given.settings.intercept.firewall = GENERATE(Firewall::nft, Firewall::iptables);
  host.lab.middle.sysctl("net.ipv4.tcp_syncookies", "2");
  const auto listener = host.listen("127.0.0.1:18500");
  host.apply();
  const auto client = lab::Socket::connect(host.lab.client, kServer4);
  CHECK(listener.accept().local() == kServer4);
  CHECK_THAT(host.lab.middle.command({"nstat", "-asz", "TcpExtSyncookiesRecv"}),
             Contains("TcpExtSyncookiesRecv            1"));
}

TEST_CASE("diversion: redirect takes new flows and refuses who comes to the listener's port himself") {
  Diverted host;
  host.given.settings.intercept.mode = InterceptMode::redirect;
  host.given.settings.intercept.firewall = GENERATE(Firewall::nft, Firewall::iptables);
  const auto listener4 = lab::Socket::listen(host.lab.middle, "0.0.0.0:18500");
  const auto listener6 = lab::Socket::listen(host.lab.middle, "[::]:18500");
  host.apply();
  CHECK(host.present());
  const auto client4 = lab::Socket::connect(host.lab.client, kServer4);
  const auto client6 = lab::Socket::connect(host.lab.client, kServer6);
  CHECK(listener4.try_accept(1s));
  CHECK(listener6.try_accept(1s));
  CHECK(lab::Socket::try_connect(host.lab.client, "198.18.1.1:18500").end == lab::End::refused);
  CHECK(lab::Socket::try_connect(host.lab.middle, "127.0.0.1:18500").end == lab::End::refused);
  CHECK(lab::Socket::try_connect(host.lab.middle, "[::1]:18500").end == lab::End::refused);
}

TEST_CASE("diversion: applying twice is the same as once, and removing leaves nothing") {
  Diverted host{{{{}, {"198.18.2.2"}, {"80", "90-99"}, "a"}, {{"198.18.1.0/24"}, {"any"}, {}, "b"}}};
  host.given.settings.intercept.mode = GENERATE(InterceptMode::tproxy, InterceptMode::redirect);
  host.given.settings.intercept.firewall = GENERATE(Firewall::nft, Firewall::iptables);
  CHECK_FALSE(host.present());
  host.remove();
  host.apply();
  const std::string once = host.listed();
  host.apply();
  CHECK(host.listed() == once);
  host.remove();
  CHECK_FALSE(host.present());
  CHECK_THAT(host.listed(), !Contains("headrace") && !Contains("HEADRACE"));
}

TEST_CASE("diversion: a flushed rule set is noticed") {
  Diverted host;
  host.apply();
  REQUIRE(host.present());
  SECTION("the whole of it") { host.lab.middle.command({"nft", "flush", "ruleset"}); }
  SECTION("our table's rules") { host.lab.middle.command({"nft", "flush", "table", "inet", "headrace"}); }
  CHECK_FALSE(host.present());
}

TEST_CASE("diversion: other people's rules stay as they are, in order") {
  Diverted host;
  const std::string others =
      "*mangle\n:MINE - [0:0]\n-A PREROUTING -j MINE\n-A MINE -p tcp -j MARK --set-xmark 0x1/0x1\nCOMMIT\n"
      "*raw\n-A PREROUTING -p udp -j CT --notrack\nCOMMIT\n";
  host.lab.middle.command({"iptables-restore", "--noflush"}, others);
  host.lab.middle.command({"nft", "-f", "-"},
                          "table inet theirs {\n chain c {\n tcp dport 5 accept\n }\n}\n");
  // The tables of iptables appear once somebody looks at them, and stay.
  host.lab.middle.command({"ip6tables-save"});
  host.given.settings.intercept.firewall = Firewall::iptables;
  host.apply();
  host.remove();
  const std::string before = host.listed();
  host.given.settings.intercept.firewall = GENERATE(Firewall::nft, Firewall::iptables);
  host.apply();
  host.apply();
  CHECK_THAT(host.listed(), Contains("MINE"));
  host.remove();
  CHECK(host.listed() == before);
  CHECK_THAT(before, Contains("MINE") && Contains("theirs") && Contains("notrack"));
}

TEST_CASE("diversion: a failed iptables transaction leaves nothing behind") {
  Diverted host;
  host.given.settings.intercept.firewall = Firewall::iptables;
  host.given.settings.intercept.interfaces = {"a-name-that-is-far-too-long-for-an-interface"};
  CHECK_THROWS_WITH(host.apply(), Contains("iptables-restore"));
  CHECK_FALSE(host.present());
}

TEST_CASE("diversion: a change of a table that somebody took out or emptied puts all of it in") {
  Diverted host{{{{}, {"198.18.2.2"}, {}}}};
  const auto listener = host.listen("127.0.0.1:18500");
  host.apply();
  const std::string before = host.listed();
  const std::string harm = GENERATE("delete table inet headrace", "flush ruleset");
  host.lab.middle.command({"nft", harm});
  SECTION("to the same") {}
  SECTION("to another") {
    host.given = given::Host{{{{}, {"198.18.2.0/24"}, {}}}};
    host.given.settings.intercept.interfaces = {"wan*"};
  }
  host.change();
  CHECK(host.present());
  CHECK(host.rules.counters_began);
  CHECK_FALSE(goes_direct(host, kServer4));
}

TEST_CASE("diversion: a failed replacement leaves the rules that were there, in their place") {
  Diverted host;
  host.given.settings.intercept.firewall = GENERATE(Firewall::nft, Firewall::iptables);
  host.lab.middle.command(
      {"iptables", "-t", "mangle", "-A", "PREROUTING", "-s", "203.0.113.9", "-j", "ACCEPT"});
  host.apply();
  host.lab.middle.command(
      {"iptables", "-t", "mangle", "-A", "PREROUTING", "-s", "203.0.113.8", "-j", "ACCEPT"});
  const std::string before = host.listed();
  host.given.settings.intercept.interfaces = {"a-name-that-is-far-too-long-for-an-interface"};
  CHECK_THROWS(host.change());
  CHECK(host.listed() == before);
}

TEST_CASE("diversion: a failed start takes out what a dead daemon left behind") {
  Diverted host;
  host.given.settings.intercept.firewall = Firewall::iptables;
  host.apply();
  REQUIRE(host.present());
  host.given.settings.intercept.interfaces = {"a-name-that-is-far-too-long-for-an-interface"};
  CHECK_THROWS_WITH(host.apply(), Contains("iptables-restore"));
  CHECK_FALSE(host.present());
  CHECK(goes_direct(host, kServer4));
}

// The legacy tools in the place of those of nft, for one family or both, with a lock of their own.
class LegacyTools {
 public:
  explicit LegacyTools(const std::vector<std::string>& names) : path_{std::getenv("PATH")} {
    for (const std::string& name : names)
      for (const char* verb : {"", "-save", "-restore"})
        std::filesystem::create_symlink("/usr/sbin/xtables-legacy-multi", dir_.path() / (name + verb));
    ::setenv("PATH", (dir_.path().string() + ":" + path_).c_str(), 1);
    ::setenv("XTABLES_LOCKFILE", (dir_ / "lock").c_str(), 1);
  }
  LegacyTools(const LegacyTools&) = delete;
  LegacyTools& operator=(const LegacyTools&) = delete;
  ~LegacyTools() {
    ::setenv("PATH", path_.c_str(), 1);
    ::unsetenv("XTABLES_LOCKFILE");
  }
  lab::Handle hold_lock() const {
    lab::Handle file{
        lab::checked(::open((dir_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), "open")};
    lab::checked(::flock(file.get(), LOCK_EX), "flock");
    return file;
  }

 private:
  std::string path_;
  lab::TempDir dir_;
};

TEST_CASE(
    "diversion: while another program holds the lock of iptables, what is there stays in both families") {
  Diverted host;
  const LegacyTools tools{
      GENERATE(std::vector<std::string>{"iptables", "ip6tables"}, std::vector<std::string>{"ip6tables"})};
  host.given.settings.intercept.firewall = Firewall::iptables;
  const auto rules = [&] {
    return host.lab.middle.run([] {
      std::string text;
      for (const char* tool : {"iptables-save", "ip6tables-save"})
        for (const std::string table : {"raw", "mangle"})
          text += rules_alone(run_command({tool, "-t", table}).out);
      return text;
    });
  };
  try {
    host.apply();
  } catch (const std::exception& error) {
    WARN("SKIPPED: this kernel has no legacy iptables: " << error.what());
    return;
  }
  const std::string before = rules();
  REQUIRE_THAT(before, Contains("HEADRACE_CLASS_0"));
  const auto lock = tools.hold_lock();
  host.given.settings.intercept.interfaces = {"wan0", "wan1"};
  CHECK_THROWS_WITH(host.change(), Contains("lock"));
  CHECK(rules() == before);
}

}  // namespace
}  // namespace headrace
