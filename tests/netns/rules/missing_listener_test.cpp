// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;

// A narrower class in front of a broader one; then the daemon's own rules with a port where nobody listens.
TEST_CASE("rules: traffic of a class without a listener goes direct, not to a broader class") {
  const lab::InlineLab lab;
  DaemonSettings settings;
  settings.policies = R"(
[[policy]]
name = "narrow"
to = ["any"]
ports = [5000]
client_leg = { profile = "lan", mss = 900 }
[[policy]]
name = "wide"
to = ["any"]
client_leg = "lan"
)";
  const Daemon daemon{lab, settings};
  const auto narrow = listen_in_both(lab, 5000);
  const auto wide = listen_in_both(lab, 5001);
  CHECK(way_of_new_flows(lab, narrow) == "through");
  CHECK(way_of_new_flows(lab, wide) == "through");

  std::string rules = lab.middle.command({"nft", "list", "table", "inet", "headrace"});
  for (auto at = rules.find(":18500"); at != std::string::npos; at = rules.find(":18500"))
    rules.replace(at, 6, ":18599");
  lab.middle.command({"nft", "-f", "-"}, "delete table inet headrace\n" + rules);
  CHECK(way_of_new_flows(lab, narrow) == "direct");
  CHECK(way_of_new_flows(lab, wide) == "through");
}
