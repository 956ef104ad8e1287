// SPDX-License-Identifier: GPL-3.0-or-later
#include <thread>

#include "bench/workload/exchange.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

TEST_CASE("server first: a banner waits for nothing while the client is silent") {
  constexpr auto kRoundTrip = 60ms;
  lab::InlineLabSettings settings;
  settings.client_link = lab::LinkSettings::round_trip(kRoundTrip);
  const lab::InlineLab lab{settings};
  const Daemon daemon{lab, with_policies(policy(5001, "\"wan-interactive\"", "\"lan\""))};
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    const std::string place = lab::endpoint(address, 5001);
    const auto listener = lab::Socket::listen(lab.server, place);
    std::vector<std::chrono::nanoseconds> times;
    for (int n = 0; n < 7; ++n) {
      std::jthread server{[&] {
        if (const auto connection = listener.try_accept(10s)) {
          connection->send_all("220 ready\r\n");
          connection->receive_to_end();
        }
      }};
      const auto client = lab::Socket::connect(lab.client, place);
      const auto start = std::chrono::steady_clock::now();
      REQUIRE(client.receive_exactly(11).bytes == "220 ready\r\n");
      times.push_back(since(start));
      client.shutdown_write();
    }
    CHECK(lab::median(times) < kRoundTrip + 30ms);
  }
}
