// SPDX-License-Identifier: GPL-3.0-or-later
// ICMP errors for our legs are addressed to the client and to the server: the rules must bring them to us.
#include "bench/lab/capture.hpp"
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/far_host.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

TEST_CASE("rules: path MTU discovery works on both legs, behind the server and behind the client") {
  const lab::InlineLab lab;
  const FarHost client_host{lab, FarHost::Behind::client};
  const FarHost server_host{lab, FarHost::Behind::server};
  DaemonSettings chosen;
  chosen.intercept += GENERATE("", "firewall = \"iptables\"\n");
  const Daemon daemon{lab, chosen};
  const lab::Capture wan{lab.middle, "wan0"};
  const lab::Capture lan{lab.middle, "lan0"};
  const bool ipv6 = GENERATE(false, true);
  const std::string client_address = client_host.address(ipv6);
  const std::string server_address = server_host.address(ipv6);
  INFO(server_address);
  const auto listener = lab::Socket::listen(server_host.host(), lab::endpoint(server_address, 5000));
  const auto client = lab::Socket::connect(client_host.host(), listener.local());
  const auto server = listener.accept();
  REQUIRE(server.peer() == client.local());

  const auto began = std::chrono::steady_clock::now();
  CHECK(carries(client, server, 300'000));
  CHECK(carries(server, client, 300'000));
  CHECK(std::chrono::steady_clock::now() - began < 2s);

  // It was discovered, not avoided: the hop complained, once to each spoofed address.
  const auto complains_to = [](const std::string& to) {
    return [to](const lab::Packet& packet) { return packet.icmp_mtu == 1300 && packet.to == to; };
  };
  CHECK(lan.wait_for(complains_to(client_address), 1s));
  CHECK(wan.wait_for(complains_to(server_address), 1s));
}
