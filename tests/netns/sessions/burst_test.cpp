// SPDX-License-Identifier: GPL-3.0-or-later
#include <thread>

#include "bench/workload/exchange.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t kRate = 100'000'000;  // bit/s
constexpr auto kRoundTrip = 40ms;
constexpr auto kSteadyAfter = 8;  // exchanges in which a new connection's window grows

// Round trips of a steady exchange with the old kernel's burst moderation at the server.
double rounds(const lab::InlineLab& lab, std::size_t response) {
  const std::string place = lab::endpoint(lab::kServer4, 5001);
  const auto listener = lab::Socket::listen(lab.server, place);
  std::jthread server{[&] {
    if (const auto connection = listener.try_accept(10s))
      lab::serve_exchanges(*connection, lab::Sending::moderated);
  }};
  lab::ExchangeSettings settings;
  settings.response = response;
  settings.count = 25;
  auto times = lab.client.run([&] { return lab::run_exchanges(place, settings); }).times;
  times.erase(times.begin(), times.begin() + kSteadyAfter);
  return lab::round_trips(lab::median(times), response, kRate, kRoundTrip);
}

}  // namespace

TEST_CASE("story 1: an answer takes one round trip, whatever the server's bursts") {
  lab::InlineLabSettings settings;
  settings.client_link = lab::LinkSettings::round_trip(kRoundTrip, kRate, 256 * 1024);
  const lab::InlineLab lab{settings};
  const double direct_small = rounds(lab, 9'356);
  const double direct_large = rounds(lab, 50'000);
  const Daemon daemon{lab, with_policies(policy(5001, "\"wan-interactive\"", "\"lan\""))};
  const double small = rounds(lab, 9'356);
  const double large = rounds(lab, 50'000);
  WARN("round trips: 9,356 bytes direct " << direct_small << ", through " << small << "; 50,000 bytes direct "
                                          << direct_large << ", through " << large);
  CHECK(direct_small > 1.7);
  CHECK(direct_large > 2.5);
  CHECK(small < 1.4);
  CHECK(large < 1.5);
}
