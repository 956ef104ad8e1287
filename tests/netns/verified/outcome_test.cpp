// SPDX-License-Identifier: GPL-3.0-or-later
#include <map>

#include "tests/netns/rules/traffic.hpp"
#include "tests/netns/verified/verified.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

// Ports whose server does something different each, in both families.
constexpr int kOpen = 5000, kClosed = 5001, kDropped = 5002, kProhibited = 5003, kNoRoute = 5004;

struct Scene {
  lab::InlineLab lab;
  std::vector<lab::Socket> listeners = listen_in_both(lab, kOpen);

  Scene() {
    treat(lab.server, kDropped, "drop");
    treat(lab.server, kProhibited, "reject with icmpx type admin-prohibited");
    treat(lab.server, kNoRoute, "reject with icmpx type no-route");
  }
  std::map<std::string, Told> scan() const {
    std::map<std::string, Told> results;
    for (const int port : {kOpen, kClosed, kDropped, kProhibited, kNoRoute})
      for (const char* address : kServers)
        results[lab::endpoint(address, port)] = told(lab, lab::endpoint(address, port));
    return results;
  }
};

}  // namespace

TEST_CASE("verified: the client's handshake completes after the server's, and not before") {
  lab::InlineLabSettings far;
  far.server_link = lab::LinkSettings::round_trip(100ms, 0, 0);
  const lab::InlineLab lab{far};
  const Daemon daemon{lab, verified()};
  const auto listeners = listen_in_both(lab, kOpen);
  for (const lab::Socket& listener : listeners) {
    const lab::Capture client_side{lab.middle, "wan0"};
    const lab::Capture server_side{lab.middle, "lan0"};
    const auto conversation = converse(lab, listener);
    CHECK(conversation.connected_in >= 100ms);
    CHECK(conversation.connected_in < 900ms);
    CHECK(is_through(lab, conversation));
    CHECK(speaks(conversation));
    CHECK(conversation.server.peer() == conversation.client.local());
    const auto theirs = server_side.wait_for(is_syn_ack, 5s);
    const auto ours = client_side.wait_for(is_syn_ack, 5s);
    REQUIRE(theirs);
    REQUIRE(ours);
    CHECK(ours->time > theirs->time);
    CHECK(server_side.packets(is_syn).size() == 1);
  }
  CHECK(syns(daemon, "answered") == 2);
  CHECK(syns(daemon, "held") == 0);
  CHECK(syns(daemon, "waiting") == 0);
}

TEST_CASE("verified: a closed port refuses in connect, and no handshake was begun before") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, verified()};
  for (const char* address : kServers) {
    const lab::Capture client_side{lab.client, "eth0"};
    CHECK(told(lab, lab::endpoint(address, kClosed)) == Told{lab::End::refused, ECONNREFUSED});
    CHECK(client_side.wait_for([](const lab::Packet& packet) { return packet.rst; }, 5s));
    CHECK(client_side.packets(is_syn_ack).empty());
  }
  CHECK(syns(daemon, "refused") == 2);
  CHECK(daemon.status()["counters"]["accepted"] == 0);
}

TEST_CASE("verified: of a server that says nothing a client hears nothing") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, verified()};
  treat(lab.server, kDropped, "drop");
  for (const char* address : kServers) {
    const lab::Capture client_side{lab.client, "eth0"};
    CHECK(told(lab, lab::endpoint(address, kDropped)).end == lab::End::timed_out);
    CHECK(client_side.packets([](const lab::Packet& packet) { return packet.syn && !packet.outgoing; })
              .empty());
    CHECK(client_side.packets([](const lab::Packet& packet) { return packet.rst; }).empty());
  }
}

TEST_CASE(
    "verified: a scan of open, closed, silent and prohibited ports tells what it tells without headrace") {
  const Scene scene;
  const auto direct = scene.scan();
  const Daemon daemon{scene.lab, verified()};
  CHECK(scene.scan() == direct);
  CHECK(syns(daemon, "answered") == 2);
  CHECK(syns(daemon, "refused") == 2);
  CHECK(syns(daemon, "unreachable") == 4);
}

TEST_CASE("verified: with iptables a scan tells what it tells without headrace") {
  const Scene scene;
  const auto direct = scene.scan();
  const Daemon daemon{scene.lab, verified("", kByIptables)};
  CHECK(scene.scan() == direct);
  CHECK(syns(daemon, "answered") == 2);
  CHECK(syns(daemon, "refused") == 2);
  CHECK(syns(daemon, "unreachable") == 4);
}

TEST_CASE("verified: where this host has no route, the client hears it from this host") {
  const lab::InlineLab lab;
  lab.middle.ip("route add unreachable 198.18.9.0/24\nroute add unreachable 2001:db8:9::/64");
  const Told direct = told(lab, "198.18.9.1:5001"), direct6 = told(lab, "[2001:db8:9::1]:5001");
  const Daemon daemon{lab, verified()};
  CHECK(told(lab, "198.18.9.1:5001") == direct);
  CHECK(told(lab, "[2001:db8:9::1]:5001") == direct6);
  CHECK(syns(daemon, "unreachable") == 2);
}

TEST_CASE("verified: a server that speaks first is heard") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, verified()};
  for (const lab::Socket& listener : listen_in_both(lab, kOpen)) {
    const auto conversation = converse(lab, listener);
    CHECK(conversation.server.send_all("220 ready") == lab::End::done);
    CHECK(conversation.client.receive_exactly(9).bytes == "220 ready");
  }
}
