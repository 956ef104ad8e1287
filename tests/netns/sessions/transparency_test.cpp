// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/socket.hpp"
#include "tests/netns/daemon.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

TEST_CASE("tproxy: the server sees the client's own address and port, in both families") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    const std::string place = lab::endpoint(address, 5000);
    const auto listener = lab::Socket::listen(lab.server, place);
    const auto client = lab::Socket::connect(lab.client, place);
    const auto server = listener.accept();
    CHECK(server.peer() == client.local());
    CHECK(client.peer() == place);
    REQUIRE(client.send_all("question") == lab::End::done);
    CHECK(server.receive_exactly(8).bytes == "question");
  }
  CHECK(daemon.status()["counters"]["accepted"] == 2);
}
