// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

int announced(const lab::Capture& capture, int port, bool answer) {
  const auto packet = capture.wait_for(
      [=](const lab::Packet& p) {
        return p.syn && p.ack == answer && (answer ? p.from_port : p.to_port) == port;
      },
      10s);
  REQUIRE(packet);
  return packet->mss.value_or(0);
}

// Of what headrace sent up to its end of stream.
std::size_t largest(const lab::Capture& capture, int from_port) {
  const auto ours = [=](const lab::Packet& p) { return p.from_port == from_port; };
  REQUIRE(capture.wait_for([&](const lab::Packet& p) { return ours(p) && p.fin; }, 10s));
  std::size_t most = 0;
  for (const auto& p : capture.packets(ours)) most = std::max(most, p.payload);
  return most;
}

}  // namespace

TEST_CASE("leg settings: mss is what each leg announces and sends, and stays on its leg") {
  lab::InlineLabSettings plain_devices;
  plain_devices.client_veth.offload = plain_devices.server_veth.offload = false;
  const lab::InlineLab lab{plain_devices};
  const Daemon daemon{lab, with_policies(policy(5001, leg("mss = 777"), "\"plain\"") +
                                         policy(5002, "\"plain\"", leg("mss = 888")))};
  const std::string answer = lab::pattern(20'000);
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    const int own = address == lab::kServer4 ? 1460 : 1440;
    for (const int port : {5001, 5002}) {
      CAPTURE(address, port);
      const lab::Capture client_now{lab.client, "eth0"};
      const lab::Capture server_now{lab.server, "eth0"};
      const Ends ends = connect_ends(lab, lab::endpoint(address, static_cast<std::uint16_t>(port)));
      CHECK(announced(client_now, port, true) == (port == 5001 ? 777 : own));
      CHECK(announced(server_now, port, false) == (port == 5002 ? 888 : own));
      REQUIRE(ends.server.send_all(answer) == lab::End::done);
      CHECK(ends.client.receive_exactly(answer.size()).bytes == answer);
      ends.server.shutdown_write();
      CHECK(largest(client_now, port) <= (port == 5001 ? 777U : static_cast<unsigned>(own)));
      if (port == 5002) CHECK(largest(client_now, port) > 1000);
    }
  }
}
