// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;

TEST_CASE("rules: what intercept.never names goes direct, and so does BGP") {
  const lab::InlineLab lab;
  lab.add_server_address("198.18.2.9");
  lab.add_server_address("2001:db8:2::9");
  DaemonSettings settings;
  settings.intercept =
      "interfaces = [\"wan0\"]\nnever = [7000, \"198.18.2.9\", \"2001:db8:2::9\", \"198.18.2.2:7001\", "
      "\"[2001:db8:2::2]:7001\"]\n";
  settings.intercept += GENERATE("", "firewall = \"iptables\"\n");
  const Daemon daemon{lab, settings};
  CHECK(way_of_new_flows(lab, listen_in_both(lab, 179)) == "direct");
  CHECK(way_of_new_flows(lab, listen_in_both(lab, 7000)) == "direct");
  CHECK(way_of_new_flows(lab, listen_in_both(lab, 7001)) == "direct");
  std::vector<lab::Socket> never;
  for (const char* address : {"198.18.2.9", "2001:db8:2::9"})
    never.push_back(lab::Socket::listen(lab.server, lab::endpoint(address, 5000)));
  CHECK(way_of_new_flows(lab, never) == "direct");
  CHECK(way_of_new_flows(lab, listen_in_both(lab, 5000)) == "through");
}

TEST_CASE("rules: an interface may be named by how it begins, and others are left alone") {
  const lab::InlineLab lab;
  DaemonSettings settings;
  const bool listed = GENERATE(true, false);
  settings.intercept = listed ? "interfaces = [\"ppp*\", \"wan*\"]\n" : "interfaces = [\"ppp*\", \"lan*\"]\n";
  settings.intercept += GENERATE("", "firewall = \"iptables\"\n");
  const Daemon daemon{lab, settings};
  CHECK(way_of_new_flows(lab, listen_in_both(lab)) == (listed ? "through" : "direct"));
}
