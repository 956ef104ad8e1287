// SPDX-License-Identifier: GPL-3.0-or-later
// Who connects to a listener itself gets nowhere: no open relay, no loop.
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;

namespace {

constexpr int kListenerPort = 18500;

void check_refused_from_outside(const lab::InlineLab& lab) {
  for (const char* address : {lab::kMiddleWan4, lab::kMiddleWan6, lab::kMiddleLan4, lab::kMiddleLan6}) {
    for (const lab::Namespace* from : {&lab.client, &lab.server}) {
      INFO(from->name() << " to " << address);
      CHECK(lab::Socket::try_connect(*from, lab::endpoint(address, kListenerPort)).end == lab::End::refused);
    }
  }
}

}  // namespace

TEST_CASE("rules: nobody outside reaches a listener of the tproxy mode") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  check_refused_from_outside(lab);
  CHECK(daemon.status()["counters"]["accepted"] == 0);
}

TEST_CASE("rules: who connects to a listener from this host is reset and counted") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  int times = 0;
  for (const char* address : {"127.0.0.1", "::1"}) {
    INFO(address);
    const auto straight = lab::Socket::try_connect(lab.middle, lab::endpoint(address, kListenerPort));
    // The reset may come before connect(2) has returned.
    CHECK((straight.end == lab::End::done ? straight.socket.receive_to_end().end : straight.end) ==
          lab::End::reset);
    ++times;
    CHECK(eventually([&] { return daemon.status()["counters"]["refused_direct"] == times; }));
    const auto counters = daemon.status()["counters"];
    CHECK(counters["accepted"] == 0);
  }
  CHECK(way_of_new_flows(lab, listen_in_both(lab)) == "through");
}

TEST_CASE("rules: in redirect mode the rules shut the listeners, under bypass too") {
  const lab::InlineLab lab;
  DaemonSettings settings;
  settings.intercept = "mode = \"redirect\"\ninterfaces = [\"wan0\"]\n";
  settings.intercept += GENERATE("", "firewall = \"iptables\"\n");
  const Daemon daemon{lab, settings};
  for (const char* bypass : {"off", "on"}) {
    INFO("bypass " << bypass);
    daemon.command({"bypass", bypass});
    check_refused_from_outside(lab);
    for (const char* address : {"127.0.0.1", "::1", lab::kMiddleWan4, lab::kMiddleWan6}) {
      INFO("this host to " << address);
      CHECK(lab::Socket::try_connect(lab.middle, lab::endpoint(address, kListenerPort)).end ==
            lab::End::refused);
    }
  }
  CHECK(daemon.status()["counters"]["accepted"] == 0);
}
