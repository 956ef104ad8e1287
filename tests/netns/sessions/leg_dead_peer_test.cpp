// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

// A keepalive probe has no new byte: its sequence number is one before the next.
lab::Capture::Predicate probe_to(std::uint16_t port, std::uint32_t next) {
  return [=](const lab::Packet& p) {
    return p.outgoing && p.to_port == port && !p.syn && p.payload <= 1 && p.seq == next - 1;
  };
}

std::uint32_t next_sequence(const lab::Capture& capture, std::uint16_t port) {
  const auto syn =
      capture.wait_for([=](const lab::Packet& p) { return p.outgoing && p.syn && p.to_port == port; }, 10s);
  REQUIRE(syn);
  return syn->seq + 1;
}

const std::string kProbing = leg("keepalive_idle = \"1s\", keepalive_interval = \"1s\", keepalive_count = 2");

}  // namespace

TEST_CASE("leg settings: keepalive probes its own leg after the idle time, and the other not") {
  const lab::InlineLab lab;
  const Daemon daemon{
      lab, with_policies(policy(5001, kProbing, "\"plain\"") + policy(5002, "\"plain\"", kProbing))};
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    for (const std::uint16_t port : {std::uint16_t{5001}, std::uint16_t{5002}}) {
      CAPTURE(address, port);
      const lab::Capture at_wan{lab.middle, "wan0"};
      const lab::Capture at_lan{lab.middle, "lan0"};
      const Ends ends = connect_ends(lab, lab::endpoint(address, port));
      const auto to_client =
          probe_to(ends.client.local_port(), next_sequence(at_wan, ends.client.local_port()));
      const auto to_server = probe_to(port, next_sequence(at_lan, port));
      const bool client_probes = port == 5001;
      const auto& probing = client_probes ? at_wan : at_lan;
      REQUIRE(probing.wait_for_count(3, client_probes ? to_client : to_server, 15s));
      const auto probes = probing.packets(client_probes ? to_client : to_server);
      const auto idle = probes[1].time - probes[0].time;
      CHECK(idle > 900ms);
      CHECK(idle < 3s);
      CHECK((client_probes ? at_lan.packets(to_server) : at_wan.packets(to_client)).empty());
    }
  }
}

TEST_CASE("leg settings: keepalive finds a dead end, and the other end sees a reset") {
  const lab::InlineLab lab;
  const Daemon daemon{
      lab, with_policies(policy(5001, kProbing, "\"plain\"") + policy(5002, "\"plain\"", kProbing))};
  const Ends client_dies = connect_ends(lab, lab::endpoint(lab::kServer4, 5001));
  silence(lab.client);
  CHECK(client_dies.server.receive_to_end(20s).end == lab::End::reset);
  CHECK(daemon.logged("closed=client_timed_out"));
  lab.client.command({"nft", "flush", "ruleset"});
  const Ends server_dies = connect_ends(lab, lab::endpoint(lab::kServer4, 5002));
  silence(lab.server);
  CHECK(server_dies.client.receive_to_end(20s).end == lab::End::reset);
  CHECK(daemon.logged("closed=server_timed_out"));
}

TEST_CASE("leg settings: user_timeout ends a session whose data is not acknowledged, on its own leg") {
  const lab::InlineLab lab;
  const std::string bounded = leg("user_timeout = \"1s\"");
  const Daemon daemon{lab,
                      with_policies(policy(5001, bounded, "\"plain\"") + policy(5002, "\"plain\"", bounded))};
  const Ends other_leg = connect_ends(lab, lab::endpoint(lab::kServer4, 5001));
  const Ends this_leg = connect_ends(lab, lab::endpoint(lab::kServer4, 5002));
  const Ends back = connect_ends(lab, lab::endpoint(lab::kServer4, 5001));
  silence(lab.server);
  REQUIRE(other_leg.client.send_all("lost") == lab::End::done);
  REQUIRE(this_leg.client.send_all("lost") == lab::End::done);
  CHECK(this_leg.client.receive_to_end(15s).end == lab::End::reset);
  CHECK(daemon.logged("closed=server_timed_out"));
  CHECK(other_leg.client.receive_some(1, 1s).end == lab::End::timed_out);
  silence(lab.client);
  REQUIRE(back.server.send_all("lost") == lab::End::done);
  CHECK(daemon.logged("closed=client_timed_out"));
}
