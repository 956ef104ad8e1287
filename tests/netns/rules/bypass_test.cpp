// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;

TEST_CASE("rules: bypass sends new flows direct, spares live sessions and survives a restart") {
  const lab::InlineLab lab;
  Daemon daemon{lab};
  const auto listeners = listen_in_both(lab);
  std::vector<Conversation> live;
  for (const lab::Socket& listener : listeners) live.push_back(converse(lab, listener));
  daemon.command({"bypass", "on"});
  CHECK(daemon.status()["bypass"] == true);
  CHECK(daemon.status()["takes_new_flows"] == false);
  CHECK(way_of_new_flows(lab, listeners) == "direct");
  for (const Conversation& session : live) {
    CHECK(speaks(session));
    CHECK(is_through(lab, session));
  }

  daemon.kill();
  daemon.start();
  CHECK(daemon.status()["bypass"] == true);
  CHECK(daemon.logged("intercepting=bypassed"));
  CHECK(way_of_new_flows(lab, listeners) == "direct");

  daemon.command({"bypass", "off"});
  CHECK(daemon.status()["bypass"] == false);
  CHECK(daemon.status()["takes_new_flows"] == true);
  CHECK(way_of_new_flows(lab, listeners) == "through");
  daemon.kill();
  daemon.start();
  CHECK(way_of_new_flows(lab, listeners) == "through");
}
