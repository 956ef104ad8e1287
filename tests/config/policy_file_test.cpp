// SPDX-License-Identifier: GPL-3.0-or-later
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/config/loading.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace headrace::testing;
using Catch::Contains;
using Catch::StartsWith;

namespace {

Flow flow(std::string_view client, std::string_view destination, std::uint16_t port) {
  return {{{*parse_address(client), 40000}}, {{*parse_address(destination), port}}};
}

const std::string kIntercept = "[intercept]\ninterfaces = [\"eth1\"]\n";

}  // namespace

TEST_CASE("policy files: the example of the documentation decides as it reads") {
  const auto configuration = load(kIntercept, R"(
[group]
branches = ["198.18.20.0/24", "2001:db8:20::/48"]
racs     = ["198.18.9.5", "198.18.9.6"]

[profile.edge]
inherits = "radio"
mss      = 1400

[[policy]]
name       = "oracle"
from       = ["@branches"]
to         = ["@racs", "2001:db8:9::5"]
ports      = [1521, "1600-1610"]
client_leg = "edge"
server_leg = { mss = 1460, keepalive_idle = "30s" }
connect_as = "client-address"

[[policy]]
name   = "rest"
to     = "any"
action = "bypass"
)");
  const PolicyTable& table = *configuration.policies;
  const Policy* oracle = table.decide(flow("198.18.20.7", "198.18.9.6", 1605));
  REQUIRE(oracle != nullptr);
  CHECK(oracle->decision.policy == "oracle");
  CHECK(oracle->decision.action == Action::accelerate);
  CHECK(oracle->decision.connect_as == ConnectAs::client_address);
  CHECK(oracle->decision.client_leg->profile == "edge");
  CHECK(oracle->decision.client_leg->settings.thin_stream);
  CHECK(oracle->decision.client_leg->settings.mss.segment == 1400);
  CHECK(oracle->decision.server_leg->profile == "lan+");
  CHECK(oracle->decision.server_leg->settings.mss.segment == 1460);
  CHECK(oracle->where.file == "10-test.toml");
  CHECK(oracle->where.line == 10);
  CHECK(table.decide(flow("2001:db8:20::1", "2001:db8:9::5", 1521)) == oracle);
  const Policy* rest = table.decide(flow("2001:db8:20::1", "2001:db8:9::5", 1522));
  REQUIRE(rest != nullptr);
  CHECK(rest->decision.action == Action::bypass);
  CHECK(rest->decision.client_leg == nullptr);
  CHECK(configuration.profiles.contains("edge"));
  CHECK(configuration.profiles.contains("wan-bulk"));
}

TEST_CASE("policy files: a bare policy gets the usual place, and policies share a profile's treatment") {
  const auto configuration = load(
      kIntercept, policy("") + "[[policy]]\nname = \"q\"\nto = [\"198.18.9.6\"]\nserver_leg = \"lan\"\n");
  const auto& policies = configuration.policies->policies();
  REQUIRE(policies.size() == 2);
  CHECK(policies[0].decision.connect_as == ConnectAs::client);
  CHECK(policies[0].decision.client_leg->profile == "wan-interactive");
  CHECK(policies[0].decision.server_leg->profile == "lan");
  CHECK(policies[0].decision.server_leg == policies[1].decision.server_leg);
  CHECK(policies[0].decision.client_leg == policies[1].decision.client_leg);
}

TEST_CASE("policy files: groups and profiles may be used before and in another file than they are defined") {
  const auto problems =
      problems_of({{"headrace.toml", "# none\n"},
                   {"a.toml", "[[policy]]\nname = \"p\"\nto = [\"@racs\"]\nclient_leg = \"mine\"\n"},
                   {"b.toml", "[group]\nracs = [\"198.18.9.5\"]\n[profile.mine]\ninherits = \"base\"\n"},
                   {"c.toml", "[profile.base]\nmss = 1400\n"}});
  CHECK(problems.empty());
}

TEST_CASE("policy files: a name defined in two files is a problem that names the first place") {
  const auto problems = problems_of(
      {{"headrace.toml", "# none\n"},
       {"a.toml", "[group]\nracs = [\"198.18.9.5\"]\n[profile.mine]\nmss = 1400\n" + policy("")},
       {"b.toml", "[group]\nracs = [\"198.18.9.6\"]\n[profile.mine]\nmss = 1300\n" + policy("")}});
  REQUIRE(problems.size() == 3);
  CHECK(problems[0] == "b.toml:2:1: group \"racs\" is defined already (a.toml:2)");
  CHECK(problems[1] == "b.toml:3:1: profile \"mine\" is defined already (a.toml:3)");
  CHECK(problems[2] == "b.toml:6:8: name: \"p\" is the name of another policy (a.toml:5)");
}

TEST_CASE("policy files: the first match wins across files in their order") {
  const auto configuration = load_configuration_text(
      {{"headrace.toml", kIntercept},
       {"10-a.toml", "[[policy]]\nname = \"first\"\nto = [\"198.18.9.0/24\"]\nports = [1521]\n"},
       {"20-b.toml", "[[policy]]\nname = \"second\"\nto = [\"198.18.9.5\"]\n"}},
      new_kernel());
  CHECK(configuration.policies->decide(flow("198.18.1.1", "198.18.9.5", 1521))->decision.policy == "first");
  CHECK(configuration.policies->decide(flow("198.18.1.1", "198.18.9.5", 1522))->decision.policy == "second");
}

TEST_CASE("policy files: problems of all files are told at once, by file and line") {
  const auto problems = problems_of({{"headrace.toml", "wrkers = 1\n"},
                                     {"b.toml", "[profile.x]\nmss = 1\n"},
                                     {"a.toml", "[[policy]]\nname = \"p\"\nto = [\"x\"]\nports = [0]\n"},
                                     {"c.toml", "= 1\n"}});
  REQUIRE(problems.size() == 5);
  CHECK_THAT(problems[0], StartsWith("a.toml:3:7: "));
  CHECK_THAT(problems[1], StartsWith("a.toml:4:10: "));
  CHECK_THAT(problems[2], StartsWith("b.toml:2:7: "));
  CHECK_THAT(problems[3], StartsWith("c.toml:1:1: not valid TOML"));
  CHECK_THAT(problems[4], StartsWith("headrace.toml:1:1: "));
}

TEST_CASE("policy files: redirect mode connects as the proxy and says that it can do nothing else") {
  const std::string redirect = "[intercept]\nmode = \"redirect\"\ninterfaces = [\"eth1\"]\n";
  CHECK(load(redirect, policy("")).policies->policies()[0].decision.connect_as == ConnectAs::proxy);
  for (const auto* wish : {"client", "client-address"}) {
    const auto problems = problems_of(redirect, policy("connect_as = \"" + std::string{wish} + "\"\n"));
    REQUIRE(problems.size() == 1);
    CHECK_THAT(problems[0],
               Contains("needs intercept.mode = \"tproxy\" (in mode \"redirect\" only \"proxy\")"));
  }
}

TEST_CASE("policy files: verified accept is refused where it can't be had, with the reason") {
  const std::string wish = policy("accept = \"verified\"\n");
  CHECK(load(kIntercept, wish).policies->policies()[0].decision.accept == Accept::verified);
  CHECK(load(kIntercept, policy("")).policies->policies()[0].decision.accept == Accept::early);
  const auto redirected = problems_of("[intercept]\nmode = \"redirect\"\n", wish);
  REQUIRE(redirected.size() == 1);
  CHECK_THAT(redirected[0], StartsWith("10-test.toml:4:10: accept: \"verified\" needs intercept.mode"));
  const auto narrow = problems_of("[intercept]\nmark = \"0x2/0x7\"\n", wish);
  REQUIRE(narrow.size() == 1);
  CHECK_THAT(narrow[0], Contains("needs seven next values under the mask of intercept.mark"));
  CHECK(problems_of("[intercept]\nmark = \"0x2/0x7\"\n", policy("")).empty());
  Environment kernel = new_kernel();
  kernel.no_syn_queue = [](Firewall) { return "needs another kernel"; };
  const auto without = problems_of(kIntercept, wish, kernel);
  REQUIRE(without.size() == 1);
  CHECK_THAT(without[0], Contains("accept: \"verified\" needs another kernel"));
  CHECK(problems_of(kIntercept, policy(""), kernel).empty());
}

TEST_CASE("policy files: a client leg mirrors its server's segment size where the SYN-ACK waits for that") {
  const std::string wish = "client_leg = { mss = \"mirror\" }\n";
  const std::string verified = wish + "accept = \"verified\"\n";
  const auto loaded = load(kIntercept, policy(verified));
  CHECK(loaded.policies->policies()[0].decision.client_leg->settings.mss.mode == Mss::Mode::mirror);
  CHECK(loaded.warnings.empty());
  CHECK_THAT(warnings_of(kIntercept, "[[policy]]\nname = \"p\"\nto = [\"any\"]\n" + verified).at(0),
             Contains("is done for IPv4 flows"));
  CHECK(problems_of(kIntercept, policy(wish)).size() == 1);
  CHECK(problems_of(kIntercept, policy(verified + "connect_as = \"proxy\"\n")).size() == 1);
  CHECK(problems_of(kIntercept + "firewall = \"iptables\"\n", policy(verified)).size() == 1);
  const std::string named = "[profile.m]\nmss = \"mirror\"\n" + policy("client_leg = \"m\"\n");
  CHECK(problems_of(kIntercept, named).size() == 1);
  CHECK(problems_of(kIntercept, named + "accept = \"verified\"\n").empty());
}

TEST_CASE("policy files: more listener classes than ports is a problem at the first policy without one") {
  std::string policies;
  for (int i = 1; i <= 3; ++i) {
    const std::string n = std::to_string(i);
    policies += "[[policy]]\nname = \"p" + n + "\"\nto = [\"198.18.9." + n + "\"]\nclient_leg = { mss = 140" +
                n + " }\n";
  }
  const auto problems = problems_of("[intercept]\nlistener_ports = \"18500-18501\"\n", policies);
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems[0],
             StartsWith("10-test.toml:9:1: policy \"p3\" is one listener class too many: 3 classes for 2"));
  CHECK(problems_of("[intercept]\nlistener_ports = \"18500-18502\"\n", policies).empty());
}

TEST_CASE("policy files: policies that intercept nothing are a warning") {
  const std::string plain = policy("client_leg = \"plain\"\n");
  CHECK_THAT(warnings_of("# none\n", plain).at(0),
             Contains("intercept.interfaces is empty: intercepts nothing"));
  CHECK_THAT(warnings_of("[intercept]\nmode = \"off\"\n", plain).at(0),
             Contains("the policies are not used"));
  CHECK_THAT(warnings_of(kIntercept).at(0), Contains("there is no policy"));
  CHECK(warnings_of(kIntercept, plain).empty());
  CHECK(warnings_of("# none\n").empty());
}

TEST_CASE("policy files: an empty file is a problem, since a half-finished save looks like one") {
  CHECK(problems_of("", "# none\n") ==
        std::vector<std::string>{"headrace.toml: the file is empty (a comment is enough to mean it)"});
  CHECK(problems_of("# none\n", "\n \n").size() == 1);
}

TEST_CASE("policy files: the cookbook's examples have no problem, each alone") {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator{HEADRACE_SOURCE_DIR "/docs/cookbook/policies"}) {
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    std::ostringstream text;
    text << std::ifstream{entry.path()}.rdbuf();
    CHECK(problems_of("workers = 1\n", text.str()) == std::vector<std::string>{});
    ++files;
  }
  CHECK(files == 5);
}
