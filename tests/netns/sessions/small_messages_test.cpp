// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/workload/small_messages.hpp"

#include <thread>

#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

lab::SmallMessageReport measure(const lab::InlineLab& lab, std::chrono::nanoseconds stall) {
  const std::string place = lab::endpoint(lab::kServer4, 5001);
  const auto listener = lab::Socket::listen(lab.server, place);
  std::jthread server{[&] {
    if (const auto connection = listener.try_accept(10s)) lab::serve_small_messages(*connection);
  }};
  lab::SmallMessageSettings settings;
  settings.stall = stall;
  return lab.client.run([&] { return lab::run_small_messages(place, settings); });
}

// A busy machine stalls a read now and then; a delayed ACK stalls one of each round. The best of three tells.
lab::SmallMessageReport best_of_three(const lab::InlineLab& lab, std::chrono::nanoseconds stall) {
  lab::SmallMessageReport best = measure(lab, stall);
  for (int n = 0; n < 2 && best.stalled_rounds > 0; ++n) {
    const auto again = measure(lab, stall);
    if (again.stalled_rounds < best.stalled_rounds) best = again;
  }
  return best;
}

void check_cure(const lab::InlineLab& lab, std::chrono::nanoseconds round_trip) {
  const auto direct = measure(lab, round_trip + 30ms);
  const Daemon daemon{lab, with_policies(policy(5001, "\"wan-interactive\"", "\"lan\""))};
  const auto through = best_of_three(lab, round_trip + 30ms);
  WARN("round trip " << round_trip / 1ms << " ms: direct stalls " << direct.stalled_rounds
                     << " of 10 rounds, worst " << direct.worst / 1us << " us; through headrace "
                     << through.stalled_rounds << ", worst " << through.worst / 1us << " us");
  CHECK(direct.stalled_rounds >= 3);  // 5 to 10 as a rule
  CHECK(through.stalled_rounds == 0);
}

}  // namespace

TEST_CASE("story 2: no read waits for a delayed ACK, between neighbours") {
  check_cure(lab::InlineLab{}, 0ms);
}

TEST_CASE("story 2: no read waits for a delayed ACK, over a link of 5 ms") {
  lab::InlineLabSettings settings;
  settings.client_link = lab::LinkSettings::round_trip(5ms);
  check_cure(lab::InlineLab{settings}, 5ms);
}
