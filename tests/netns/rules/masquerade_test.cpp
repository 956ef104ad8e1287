// SPDX-License-Identifier: GPL-3.0-or-later
// Source NAT on the same box, towards the servers. A server leg that comes as the client is masqueraded in
// the conntrack zone of server legs, but the answer, addressed to this host, is looked up in the common one
// before anything shows whose it is: it finds no entry. A leg that comes as this host has nothing to undo.
#include "bench/lab/capture.hpp"
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

void masquerade(const lab::InlineLab& lab) {
  lab.middle.command({"nft", "-f", "-"}, R"(table inet nat {
  chain out {
    type nat hook postrouting priority srcnat
    oifname "lan0" masquerade
  }
}
)");
}

std::string this_host_at(const lab::Socket& listener) {
  return listener.local().front() == '[' ? lab::kMiddleLan6 : lab::kMiddleLan4;
}

}  // namespace

TEST_CASE("rules: behind masquerading on the same box connect_as = proxy works") {
  const lab::InlineLab lab;
  masquerade(lab);
  DaemonSettings settings;
  settings.start = false;
  settings.policies = "[[policy]]\nname = \"all\"\nto = [\"any\"]\nconnect_as = \"proxy\"\n";
  Daemon daemon{lab, settings};
  const auto listeners = listen_in_both(lab);
  CHECK(way_of_new_flows(lab, listeners) == "direct");
  daemon.start();
  for (const lab::Socket& listener : listeners) {
    const auto session = converse(lab, listener);
    CHECK(is_through(lab, session));
    CHECK(carries(session.client, session.server, 300'000));
    CHECK(carries(session.server, session.client, 300'000));
    CHECK(session.server.peer().find(this_host_at(listener)) != std::string::npos);
  }
}

TEST_CASE("rules: behind masquerading on the same box connect_as = client reaches no server") {
  const lab::InlineLab lab;
  masquerade(lab);
  const Daemon daemon{lab};
  const lab::Capture lan{lab.middle, "lan0"};
  for (const lab::Socket& listener : listen_in_both(lab)) {
    INFO(listener.local());
    const std::string here = this_host_at(listener);
    const auto client = lab::Socket::connect(lab.client, listener.local());
    const auto syn = [&](const lab::Packet& packet) {
      return packet.syn && !packet.ack && packet.from == here;
    };
    const auto rejection = [&](const lab::Packet& packet) { return packet.rst && packet.from == here; };
    CHECK(lan.wait_for(syn, 5s));
    CHECK(lan.wait_for(rejection, 5s));  // of the server's SYN-ACK
    CHECK_FALSE(listener.try_accept(0s));
  }
}
