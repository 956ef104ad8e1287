// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <thread>

#include "bench/workload/exchange.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t kRate = 100'000'000;  // bit/s
constexpr auto kRoundTrip = 40ms;

lab::InlineLabSettings wan() {
  lab::InlineLabSettings settings;
  settings.client_link = lab::LinkSettings::round_trip(kRoundTrip, kRate, 512 * 1024);
  return settings;
}

// Segments of data that reach the client before anything that answers its first ACK could.
std::size_t first_flight(const lab::InlineLab& lab, int port) {
  const lab::Capture capture{lab.client, "eth0"};
  const Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, port));
  REQUIRE(ends.server.send_all(lab::pattern(200'000)) == lab::End::done);
  REQUIRE(ends.client.receive_exactly(200'000).bytes.size() == 200'000);
  const auto data =
      capture.packets([=](const lab::Packet& p) { return p.from_port == port && p.payload > 0; });
  const auto first = data.front().time;
  return static_cast<std::size_t>(std::count_if(
      data.begin(), data.end(), [&](const lab::Packet& p) { return p.time - first < kRoundTrip / 2; }));
}

std::vector<double> rounds(const lab::InlineLab& lab, const std::string& place, int count,
                           std::chrono::nanoseconds pause) {
  const auto listener = lab::Socket::listen(lab.server, place);
  std::jthread server{[&] {
    if (const auto connection = listener.try_accept(10s))
      lab::serve_exchanges(*connection, lab::Sending::plain);
  }};
  lab::ExchangeSettings settings;
  settings.response = 50'000;
  settings.count = count;
  settings.pause = pause;
  const auto report = lab.client.run([&] { return lab::run_exchanges(place, settings); });
  std::vector<double> all;
  for (const auto time : report.times)
    all.push_back(lab::round_trips(time, settings.response, kRate, kRoundTrip));
  return all;
}

}  // namespace

TEST_CASE("leg settings: initial_window is how many segments leave before the first ACK") {
  const lab::InlineLab lab{wan()};
  const Daemon daemon{
      lab, with_policies(policy(5001, leg("congestion = \"cubic\", initial_window = 40"), "\"plain\"") +
                         policy(5002, leg("congestion = \"cubic\", initial_window = 3"), "\"plain\"") +
                         policy(5003, leg("congestion = \"cubic\""), "\"plain\""))};
  CHECK(first_flight(lab, 5001) == 40);
  CHECK(first_flight(lab, 5002) == 3);
  CHECK(first_flight(lab, 5003) == 10);
}

TEST_CASE("story 1: for a bare policy the first, the steady and the paused answer take one round trip") {
  const lab::InlineLab lab{wan()};
  DaemonSettings settings;
  settings.policies = "[[policy]]\nname = \"bare\"\nto = [\"any\"]\n";
  settings.more = "[kernel]\nslow_start_after_idle = false\n";
  const Daemon daemon{lab, settings};
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    CAPTURE(address);
    auto steady = rounds(lab, lab::endpoint(address, 5001), 15, 0ns);
    const double first = steady.front();
    std::nth_element(steady.begin(), steady.begin() + 7, steady.end());
    auto paused = rounds(lab, lab::endpoint(address, 5002), 5, 500ms);
    std::nth_element(paused.begin() + 1, paused.begin() + 3, paused.end());
    WARN("round trips: first " << first << ", steady " << steady[7] << ", paused " << paused[3]);
    // Ten segments at first, or again after a pause, make three of them.
    CHECK(first < 2);
    CHECK(steady[7] < 1.5);
    CHECK(paused[3] < 1.5);
  }
}
