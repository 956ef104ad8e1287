// SPDX-License-Identifier: GPL-3.0-or-later
// Flows that went direct and never pause, while everything that can happen to the daemon happens.
#include <csignal>
#include <list>

#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/chatter.hpp"
#include "tests/test.hpp"

using namespace headrace;

namespace {

struct DirectFlows {
  explicit DirectFlows(const lab::InlineLab& where) : lab{where}, listeners{listen_in_both(where)} {}

  void open() {
    for (const lab::Socket& listener : listeners) flows.emplace_back(converse(lab, listener));
  }
  void check_after(const char* event) {
    INFO("after " << event);
    for (const Chatter& flow : flows) {
      INFO(flow.conversation().client.peer());
      CHECK(flow.goes_on());
      CHECK_FALSE(is_through(lab, flow.conversation()));
    }
  }

  const lab::InlineLab& lab;
  std::vector<lab::Socket> listeners;
  std::list<Chatter> flows;
};

}  // namespace

TEST_CASE("rules: starting, stopping, bypass and a crash reset no flow that went direct") {
  const lab::InlineLab lab;
  DaemonSettings settings;
  settings.start = false;
  Daemon daemon{lab, settings};
  DirectFlows direct{lab};
  direct.open();
  daemon.start();
  direct.check_after("the start");
  daemon.command({"bypass", "on"});
  direct.check_after("bypass on");
  direct.open();  // went direct while the rules were there
  daemon.command({"bypass", "off"});
  direct.check_after("bypass off");
  daemon.kill();
  direct.check_after("kill -9");
  direct.open();
  daemon.start();
  direct.check_after("the restart after kill -9");
  daemon.signal(SIGTERM);
  CHECK(daemon.wait() == lab::ExitStatus{0, 0});
  direct.check_after("SIGTERM");
  daemon.start();
  direct.check_after("the second restart");
  daemon.signal(SIGINT);
  CHECK(daemon.wait() == lab::ExitStatus{0, 0});
  direct.check_after("SIGINT");
}
