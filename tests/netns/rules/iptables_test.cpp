// SPDX-License-Identifier: GPL-3.0-or-later
#include <csignal>

#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;

namespace {

DaemonSettings with_iptables() {
  DaemonSettings settings;
  settings.intercept = "firewall = \"iptables\"\ninterfaces = [\"wan0\"]\n";
  return settings;
}

bool has_rules(const lab::InlineLab& lab) {
  const std::string saved = lab.middle.command({"iptables-save"}) + lab.middle.command({"ip6tables-save"});
  return saved.find("HEADRACE") != std::string::npos;
}

}  // namespace

TEST_CASE("rules: the iptables form works, and is gone when the daemon has stopped") {
  const lab::InlineLab lab;
  Daemon daemon{lab, with_iptables()};
  const auto listeners = listen_in_both(lab);
  for (const int signal : {SIGTERM, SIGINT}) {
    INFO("signal " << signal);
    CHECK(way_of_new_flows(lab, listeners) == "through");
    CHECK(has_rules(lab));
    daemon.signal(signal);
    CHECK(daemon.wait() == lab::ExitStatus{0, 0});
    CHECK_FALSE(has_rules(lab));
    CHECK(way_of_new_flows(lab, listeners) == "direct");
    daemon.start();
  }
}

TEST_CASE("rules: after kill -9 `net down` takes the iptables form out, and flows go direct") {
  const lab::InlineLab lab;
  Daemon daemon{lab, with_iptables()};
  const auto listeners = listen_in_both(lab);
  const auto session = converse(lab, listeners.front());
  CHECK(speaks(session));
  daemon.kill();
  CHECK(session.client.receive_to_end().end == lab::End::reset);
  daemon.command({"net", "down"});
  CHECK_FALSE(has_rules(lab));
  CHECK(way_of_new_flows(lab, listeners) == "direct");
}

TEST_CASE("rules: the iptables form sends new flows direct under bypass, and keeps the server's view") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_iptables()};
  const auto listeners = listen_in_both(lab);
  const auto session = converse(lab, listeners.back());
  CHECK(session.server.peer() == session.client.local());
  daemon.command({"bypass", "on"});
  CHECK(way_of_new_flows(lab, listeners) == "direct");
  CHECK(speaks(session));
  daemon.command({"bypass", "off"});
  CHECK(way_of_new_flows(lab, listeners) == "through");
  CHECK(speaks(session));
}
