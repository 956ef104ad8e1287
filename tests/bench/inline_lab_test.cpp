// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/inline_lab.hpp"

#include "bench/lab/capture.hpp"
#include "bench/lab/socket.hpp"
#include "tests/test.hpp"

namespace headrace::lab {
namespace {

void exchange_through(const InlineLab& lab, const std::string& at) {
  const Socket listener = Socket::listen(lab.server, at);
  const Socket client = Socket::connect(lab.client, at);
  const Socket server = listener.accept();
  client.send_all("question");
  CHECK(server.receive_exactly(8).bytes == "question");
  server.send_all("answer");
  CHECK(client.receive_exactly(6).bytes == "answer");
}

}  // namespace

TEST_CASE("lab: the middle forwards both families") {
  const InlineLab lab;
  exchange_through(lab, endpoint(kServer4, 5000));
  exchange_through(lab, endpoint(kServer6, 5000));
}

TEST_CASE("lab: it forwards over emulated links as well, and they can be cut and mended") {
  InlineLabSettings settings;
  settings.client_link.emplace();
  settings.server_link.emplace();
  const InlineLab lab(settings);
  exchange_through(lab, endpoint(kServer4, 5000));
  exchange_through(lab, endpoint(kServer6, 5000));
  lab.client_link().cut();
  SocketOptions hurried;
  hurried.timeout = 300ms;
  CHECK(Socket::try_connect(lab.client, endpoint(kServer4, 5000), hurried).end == End::timed_out);
  lab.client_link().mend();
  exchange_through(lab, endpoint(kServer4, 5001));
}

TEST_CASE("lab: more addresses answer at once") {
  const InlineLab lab;
  lab.add_server_address("198.18.2.9");
  lab.add_server_address("2001:db8:2::9");
  exchange_through(lab, "198.18.2.9:5000");
  exchange_through(lab, "[2001:db8:2::9]:5000");
}

TEST_CASE("capture: a handshake is seen with its options, and data with its length") {
  InlineLabSettings settings;
  settings.client_veth.offload = false;
  const InlineLab lab(settings);
  const Capture capture(lab.middle, "wan0");
  exchange_through(lab, endpoint(kServer4, 5000));
  const auto syn = capture.wait_for([](const Packet& packet) { return packet.syn && !packet.ack; }, 10s);
  REQUIRE(syn);
  CHECK(syn->from == kClient4);
  CHECK(syn->to == kServer4);
  CHECK(syn->to_port == 5000);
  CHECK(!syn->outgoing);
  CHECK(syn->mss == 1460);
  CHECK(syn->sack_permitted);
  const auto answer = capture.wait_for([](const Packet& packet) { return packet.payload == 6; }, 10s);
  REQUIRE(answer);
  CHECK(answer->outgoing);
  CHECK(answer->from == kServer4);
  CHECK(!capture.wait_for([](const Packet& packet) { return packet.rst && packet.from_port == 1; }, 10ms));
  CHECK(capture.missed() == 0);
}

}  // namespace headrace::lab
