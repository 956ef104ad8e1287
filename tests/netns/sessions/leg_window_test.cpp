// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <thread>

#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

struct Windows {
  int scale = -1;           // announced in headrace's SYN or SYN-ACK
  std::size_t first = 0;    // bytes, in that
  std::size_t largest = 0;  // bytes, over all of headrace's packets after the handshake
};

// Of what headrace sends to the client (`port` is the sender's) or to the server (`port` is the receiver's).
Windows seen(const lab::Capture& capture, int port, bool to_client) {
  const auto ours = [=](const lab::Packet& p) { return (to_client ? p.from_port : p.to_port) == port; };
  const auto syn = capture.wait_for([&](const lab::Packet& p) { return p.syn && ours(p); }, 10s);
  REQUIRE(syn);
  REQUIRE(capture.wait_for([&](const lab::Packet& p) { return p.fin && ours(p); }, 10s));
  Windows windows{.scale = syn->window_scale.value_or(0), .first = syn->window};
  for (const auto& p : capture.packets(ours))
    if (!p.syn && !p.rst) windows.largest = std::max(windows.largest, std::size_t{p.window} << windows.scale);
  return windows;
}

struct BothLegs {
  Windows client, server;
};

BothLegs transfer_both_ways(const lab::InlineLab& lab, const char* address, int port) {
  const lab::Capture at_client{lab.client, "eth0"};
  const lab::Capture at_server{lab.server, "eth0"};
  const Ends ends = connect_ends(lab, lab::endpoint(address, static_cast<std::uint16_t>(port)));
  const std::string bytes = lab::pattern(150'000);
  for (const auto& [from, to] : {std::pair{&ends.client, &ends.server}, {&ends.server, &ends.client}}) {
    std::jthread sender{[&bytes, from = from] { from->send_all(bytes); }};
    CHECK(to->receive_exactly(bytes.size()).bytes == bytes);
  }
  ends.client.shutdown_write();
  ends.server.shutdown_write();
  return {seen(at_client, port, true), seen(at_server, port, false)};
}

}  // namespace

TEST_CASE("leg settings: receive_buffer decides the window scale of its own leg's handshake") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_policies(policy(5001, leg("receive_buffer = \"64KiB\""), "\"plain\"") +
                                         policy(5002, "\"plain\"", leg("receive_buffer = \"64KiB\"")))};
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    CAPTURE(address);
    const BothLegs client_small = transfer_both_ways(lab, address, 5001);
    const BothLegs server_small = transfer_both_ways(lab, address, 5002);
    CHECK(client_small.client.scale <= 1);
    CHECK(client_small.server.scale >= 5);
    CHECK(server_small.server.scale <= 1);
    CHECK(server_small.client.scale >= 5);
    CHECK(client_small.client.largest <= 128 * 1024);
    CHECK(server_small.server.largest <= 128 * 1024);
  }
}

// The kernel lets its autotuning raise the clamp (tcp_rcvbuf_grow, tcp_measure_rcv_mss), so that only what
// the handshake fixed lasts: the first window, and the scale that goes with the clamp.
TEST_CASE("leg settings: window_clamp bounds the first window of its leg, and by the scale the later ones") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_policies(policy(5001, leg("window_clamp = \"16KiB\""), "\"plain\"") +
                                         policy(5002, "\"plain\"", leg("window_clamp = \"16KiB\"")))};
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    CAPTURE(address);
    const BothLegs on_client = transfer_both_ways(lab, address, 5001);
    const BothLegs on_server = transfer_both_ways(lab, address, 5002);
    for (const Windows& clamped : {on_client.client, on_server.server}) {
      CHECK(clamped.first <= 16 * 1024);
      CHECK(clamped.scale == 0);
    }
    for (const Windows& free : {on_client.server, on_server.client}) {
      CHECK(free.first > 16 * 1024);
      CHECK(free.scale >= 5);
    }
  }
}
