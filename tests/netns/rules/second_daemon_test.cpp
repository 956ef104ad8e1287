// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;

TEST_CASE("rules: a second daemon of the same file refuses to start and harms nothing") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  const auto listeners = listen_in_both(lab);
  const auto live = converse(lab, listeners.front());
  const auto outcome = daemon.try_command({"run"});
  INFO(outcome.output);
  CHECK(outcome.status == 1);
  CHECK(outcome.output.find("another headrace answers there") != std::string::npos);
  CHECK(speaks(live));
  CHECK(way_of_new_flows(lab, listeners) == "through");
}

// With files of its own nothing but the network is shared: it would take over the rules, and take them out
// when it ends.
TEST_CASE("rules: a second daemon in the same network refuses to start and harms nothing") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  const auto listeners = listen_in_both(lab);
  const auto live = converse(lab, listeners.front());
  DaemonSettings settings;
  settings.net_up = false;
  settings.start = false;
  const Daemon other{lab, settings};
  for (int attempt = 0; attempt < 4; ++attempt) {  // as a service manager would
    const auto outcome = other.try_command({"run"});
    INFO(outcome.output);
    CHECK(outcome.status == 1);
    CHECK(outcome.output.find("another headrace intercepts") != std::string::npos);
  }
  CHECK(speaks(live));
  CHECK(way_of_new_flows(lab, listeners) == "through");
}
