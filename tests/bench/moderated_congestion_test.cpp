// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/moderated/moderated_congestion.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

#include "bench/lab/handle.hpp"
#include "bench/lab/inline_lab.hpp"
#include "bench/workload/exchange.hpp"
#include "tests/test.hpp"

namespace headrace::lab {
namespace {

constexpr std::uint64_t kRate = 100'000'000;
constexpr auto kRoundTrip = 40ms;
const std::string kAt = endpoint(kServer4, 5000);

// False where a kernel or a build cannot: nothing is to be tested then.
bool can_moderate() {
  const auto reason = ModeratedCongestion::why_not();
  if (reason) WARN("not tested: " << *reason);
  return !reason;
}

InlineLabSettings wan() {
  InlineLabSettings settings;
  settings.client_link = LinkSettings::round_trip(kRoundTrip, kRate);
  return settings;
}

bool is_known(const std::string& congestion) {
  const Socket probe = Socket::listen("127.0.0.1:0");
  return setsockopt(probe.descriptor(), IPPROTO_TCP, TCP_CONGESTION, congestion.data(),
                    static_cast<socklen_t>(congestion.size())) == 0;
}

// Round trips of each exchange with a moderated server on the other side of the WAN.
std::vector<double> exchange(const InlineLab& lab, std::size_t response, int count,
                             std::chrono::nanoseconds pause) {
  const ModeratedCongestion moderated;
  SocketOptions options;
  options.congestion = moderated.name();
  const Socket listener = Socket::listen(lab.server, kAt, options);
  std::thread server([&] { serve_exchanges(listener.accept(60s), Sending::plain); });
  ExchangeSettings settings;
  settings.response = response;
  settings.count = count;
  settings.pause = pause;
  const ExchangeReport report = lab.client.run([&] { return run_exchanges(kAt, settings); });
  server.join();
  std::vector<double> trips;
  for (const auto time : report.times) trips.push_back(round_trips(time, response, kRate, kRoundTrip));
  return trips;
}

// Within the client's retransmission timeout: after a longer silence it acknowledges every segment for a
// while (tcp_event_data_recv), and as each ACK lets a burst go, 50,000 bytes take two round trips on an idle
// machine.
constexpr auto kPause = 150ms;

double middle(std::vector<double> trips) {
  std::sort(trips.begin(), trips.end());
  return trips[trips.size() / 2];
}

double fewest(const std::vector<double>& trips) { return *std::min_element(trips.begin(), trips.end()); }

}  // namespace

TEST_CASE("moderated: two round trips for 9,356 bytes and three for 50,000, from the first exchange on") {
  if (!can_moderate()) return;
  const InlineLab lab(wan());
  for (const auto& [response, trips] : {std::pair{9'356, 2.0}, std::pair{50'000, 3.0}}) {
    const auto size = static_cast<std::size_t>(response);
    const auto steady = exchange(lab, size, 12, 0ms);
    const auto paused = exchange(lab, size, 7, kPause);
    const std::vector<double> first{steady.front(), paused.front(), exchange(lab, size, 1, 0ms).front(),
                                    exchange(lab, size, 1, 0ms).front()};
    WARN(response << " bytes: first " << fewest(first) << ", steady " << fewest(steady) << ", paused "
                  << middle(paused) << " round trips");
    // A busy machine adds to some of them, and joins ACKs, which makes bursts fewer; none takes less.
    CHECK(fewest(first) == Approx(trips).margin(0.15));
    CHECK(fewest(steady) == Approx(trips).margin(0.15));
    // The client acknowledges every segment of its first sixteen: each ACK lets a burst go, and one exchange
    // may take two.
    CHECK(middle(paused) == Approx(trips).margin(0.5));
  }
}

TEST_CASE("moderated: two have names of their own, and both go with their objects") {
  if (!can_moderate()) return;
  std::string first, second;
  {
    const ModeratedCongestion one, other;
    first = one.name();
    second = other.name();
    CHECK(first != second);
    CHECK(is_known(first));
    CHECK(is_known(second));
  }
  CHECK(!is_known(first));
  CHECK(!is_known(second));
}

TEST_CASE("moderated: it goes with its process, also when that is killed") {
  if (!can_moderate()) return;
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const Handle told(ends[0]);
  const pid_t child = fork();
  if (child == 0) {
    const ModeratedCongestion held;
    const bool said = write(ends[1], held.name().data(), held.name().size()) > 0;
    if (said) pause();
    _exit(1);
  }
  Handle(ends[1]).reset();
  std::array<char, 16> name{};
  const bool was_told = read(told.get(), name.data(), name.size() - 1) > 0;
  const bool was_known = was_told && is_known(name.data());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK(was_known);
  CHECK(!is_known(name.data()));
}

}  // namespace headrace::lab
