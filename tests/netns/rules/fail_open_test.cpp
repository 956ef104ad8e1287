// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;

TEST_CASE("rules: new flows go direct before the start and after kill -9, and through in between") {
  const lab::InlineLab lab;
  DaemonSettings settings;
  settings.start = false;
  Daemon daemon{lab, settings};
  const auto listeners = listen_in_both(lab);
  CHECK(way_of_new_flows(lab, listeners) == "direct");
  daemon.start();
  CHECK(way_of_new_flows(lab, listeners) == "through");
  daemon.kill();
  CHECK(way_of_new_flows(lab, listeners) == "direct");
  daemon.start();
  CHECK(way_of_new_flows(lab, listeners) == "through");
}
