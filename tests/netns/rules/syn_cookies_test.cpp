// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;

// The ACK that answers a cookie finds no socket: the rules must bring it to the listener of its own class.
TEST_CASE("rules: connections through SYN cookies work, in every class with its own segment size") {
  const lab::InlineLab lab;
  lab.middle.sysctl("net.ipv4.tcp_syncookies", "2");
  DaemonSettings settings;
  settings.intercept += GENERATE("", "firewall = \"iptables\"\n");
  settings.policies = R"(
[[policy]]
name = "narrow"
to = ["any"]
ports = [5000]
client_leg = { profile = "lan", mss = 900 }
[[policy]]
name = "wide"
to = ["any"]
ports = ["5000-5001"]
client_leg = { profile = "lan", mss = 1200 }
)";
  const Daemon daemon{lab, settings};
  for (const int port : {5000, 5001}) {
    for (const lab::Socket& listener : listen_in_both(lab, port)) {
      INFO(listener.local());
      const auto conversation = converse(lab, listener);
      CHECK(conversation.connected_in < kAtOnce);
      CHECK(speaks(conversation));
      CHECK(is_through(lab, conversation));
      CHECK(carries(conversation.client, conversation.server, 100'000));
      const int announced = port == 5000 ? 900 : 1200;
      CHECK(conversation.client.tcp().send_mss <= announced);
      CHECK(conversation.client.tcp().send_mss > announced - 20);  // timestamps
    }
  }
  const auto statistics = lab.middle.command({"nstat", "-asz", "TcpExtSyncookiesRecv"});
  INFO(statistics);
  CHECK(statistics.find("TcpExtSyncookiesRecv            4 ") != std::string::npos);
}
