// SPDX-License-Identifier: GPL-3.0-or-later
#include <csignal>

#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/storm.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;

namespace {

std::string policy(const std::string& name, const std::string& ports, int mss) {
  return "[[policy]]\nname = \"" + name + "\"\nto = [\"any\"]\nports = [" + ports +
         "]\nclient_leg = { profile = \"lan\", mss = " + std::to_string(mss) + " }\n";
}

DaemonSettings starting_with(const std::string& policies) {
  DaemonSettings settings;
  settings.policies = policies;
  return settings;
}

}  // namespace

TEST_CASE("rules: a reload gives new flows the new class and leaves live sessions alone") {
  const lab::InlineLab lab;
  Daemon daemon{lab, starting_with(policy("old", "5000", 900))};
  const auto at_old = listen_in_both(lab, 5000);
  const auto at_new = listen_in_both(lab, 5001);
  std::vector<Conversation> live;
  for (const lab::Socket& listener : at_old) live.push_back(converse(lab, listener));
  CHECK(way_of_new_flows(lab, at_new) == "direct");

  daemon.write_policies(policy("new", "5001", 1100));
  SECTION("by command") { daemon.command({"reload"}); }
  SECTION("by SIGHUP") {
    daemon.signal(SIGHUP);
    REQUIRE(daemon.logged("reloaded policies=1 classes=1"));
  }
  CHECK(way_of_new_flows(lab, at_new) == "through");
  CHECK(way_of_new_flows(lab, at_old) == "direct");
  for (const Conversation& session : live) {
    CHECK(speaks(session));
    CHECK(is_through(lab, session));
  }
  const auto session = converse(lab, at_new.front());
  CHECK(session.client.tcp().send_mss <= 1100);
  CHECK(session.client.tcp().send_mss > 1080);
}

TEST_CASE("rules: a reload of a bad file changes nothing and names the line") {
  const lab::InlineLab lab;
  Daemon daemon{lab};
  const auto listeners = listen_in_both(lab);
  const auto live = converse(lab, listeners.front());
  daemon.write_policies("[[policy]]\nname = \"all\"\nto = [\"any\"]\nno_such_key = 1\n");
  const auto outcome = daemon.try_command({"reload"});
  INFO(outcome.output);
  CHECK(outcome.status == 1);
  CHECK(outcome.output.find("10-test.toml:4:") != std::string::npos);
  daemon.signal(SIGHUP);
  CHECK(daemon.logged("reload refused, the old configuration stays"));
  CHECK(daemon.logged("10-test.toml:4:"));
  CHECK(way_of_new_flows(lab, listeners) == "through");
  CHECK(speaks(live));
}

TEST_CASE("rules: a storm of connections loses none to five reloads") {
  const lab::InlineLab lab;
  Daemon daemon{lab, starting_with(policy("p", "5000", 900))};
  const auto listeners = listen_in_both(lab);
  Storm storm{lab, listeners, 200};
  for (int reload = 0; reload < 5; ++reload) {
    REQUIRE(storm.wait_for(reload * 35));
    daemon.write_policies(policy("p", "5000", 901 + reload));  // a new class each time: a new listener
    daemon.command({"reload"});
  }
  CHECK(storm.trouble() == "");
  CHECK(daemon.status()["counters"]["accepted"] == 200);
}
