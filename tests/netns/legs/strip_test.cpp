// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

lab::Packet handshake(const lab::Capture& capture, int port, bool answer) {
  const auto packet = capture.wait_for(
      [=](const lab::Packet& p) {
        return p.syn && p.ack == answer && (answer ? p.from_port : p.to_port) == port;
      },
      10s);
  REQUIRE(packet);
  return *packet;
}

struct Expected {
  int port;
  bool client_timestamps, client_sack, server_timestamps, server_sack;
};

void check_options(const lab::InlineLab& lab) {
  const std::string answer = lab::pattern(100'000);
  for (const Expected& expected :
       {Expected{5001, false, true, true, true}, Expected{5002, true, false, true, true},
        Expected{5003, true, true, false, true}, Expected{5004, true, true, true, false},
        Expected{5005, false, false, false, false}, Expected{5006, true, true, true, true}}) {
    for (const char* address : {lab::kServer4, lab::kServer6}) {
      CAPTURE(expected.port, address);
      const lab::Capture client_now{lab.client, "eth0"};
      const lab::Capture server_now{lab.server, "eth0"};
      const Ends ends = connect_ends(lab, lab::endpoint(address, expected.port));
      const lab::Packet to_client = handshake(client_now, expected.port, true);
      const lab::Packet to_server = handshake(server_now, expected.port, false);
      CHECK(to_client.timestamps.has_value() == expected.client_timestamps);
      CHECK(to_client.sack_permitted == expected.client_sack);
      CHECK(to_server.timestamps.has_value() == expected.server_timestamps);
      CHECK(to_server.sack_permitted == expected.server_sack);
      REQUIRE(ends.server.send_all(answer) == lab::End::done);
      CHECK(ends.client.receive_exactly(answer.size()).bytes == answer);
    }
  }
}

std::string policies() {
  return policy(5001, leg("timestamps = false"), "\"plain\"") +
         policy(5002, leg("sack = false"), "\"plain\"") +
         policy(5003, "\"plain\"", leg("timestamps = false")) +
         policy(5004, "\"plain\"", leg("sack = false")) +
         policy(5005, leg("timestamps = false, sack = false"), leg("timestamps = false, sack = false")) +
         policy(5006, "\"plain\"", "\"plain\"");
}

}  // namespace

TEST_CASE("leg settings: timestamps and sack are not offered on the leg that goes without") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_policies(policies())};
  check_options(lab);
}

TEST_CASE("leg settings: timestamps and sack are not offered under iptables either") {
  const lab::InlineLab lab;
  DaemonSettings settings = with_policies(policies());
  settings.intercept += "firewall = \"iptables\"\n";
  const Daemon daemon{lab, settings};
  check_options(lab);
}

TEST_CASE("leg settings: a mirrored mss announces to the server what the client announced") {
  lab::InlineLabSettings small;
  small.client_veth.mtu = 1300;
  const lab::InlineLab lab{small};
  const Daemon daemon{lab, with_policies(policy(5001, "\"plain\"", leg("mss = \"mirror\"")) +
                                         policy(5002, "\"plain\"", "\"plain\""))};
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    const int clients = address == lab::kServer4 ? 1260 : 1240;
    for (const int port : {5001, 5002}) {
      CAPTURE(address, port);
      const lab::Capture server_now{lab.server, "eth0"};
      const Ends ends = connect_ends(lab, lab::endpoint(address, port));
      CHECK(handshake(server_now, port, false).mss.value_or(0) == (port == 5001 ? clients : clients + 200));
    }
  }
}
