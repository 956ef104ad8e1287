// SPDX-License-Identifier: GPL-3.0-or-later
// Log-in, redirects and exchanges of an Oracle-shaped pair.
#include <future>

#include "tests/netns/databases/tns_pair.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

// The client is told to go to `host` and `port`, and works there. True: through headrace.
bool works_redirected(const TwoWays& ways, const std::string& host, int port) {
  const int before = ways.accepted();
  const auto listener = lab::Socket::listen(ways.server(), lab::endpoint(lab::kServer4, tns::kPort));
  const auto elsewhere = lab::Socket::listen(ways.server(), lab::endpoint(host, port));
  auto redirected = std::async(std::launch::async, [&] { tns::redirect(listener, host, port); });
  const tns::Pair pair = tns::make_pair(ways, listener.local(), elsewhere);
  redirected.get();
  CHECK(pair.client.redirects == 1);
  CHECK(pair.server.channel.socket().peer() == pair.client.channel.socket().local());
  CHECK(tns::exchange(pair, tns::kRequest, tns::kAnswer));
  return ways.accepted() == before + 2;
}

}  // namespace

TEST_CASE("tns: a redirect into the policy's ports stays in headrace, any other goes direct and works") {
  const TwoWays ways{"1521, \"1600-1610\""};
  CHECK(works_redirected(ways, lab::kServer4, 1605));
  CHECK(works_redirected(ways, lab::kServer6, 1610));
  CHECK_FALSE(works_redirected(ways, lab::kServer4, 1611));
  CHECK_FALSE(works_redirected(ways, TwoWays::kDirect4, 1605));
  CHECK(ways.accepted() == 6);
}

TEST_CASE("tns: the probe for urgent data at log-in comes urgent and in place, inline or not") {
  const TwoWays ways{"1521"};
  for (const auto& [through, direct] : TwoWays::pairs())
    for (const std::string& address : {through, direct})
      for (const bool in_line : {false, true}) {
        CAPTURE(address, in_line);
        const tns::Pair pair = tns::make_pair(ways, lab::endpoint(address, tns::kPort), in_line);
        CHECK(pair.server.probe == tns::Urgent{true, true, std::string(1, tns::kUrgent)});
        CHECK(pair.client.urgent_works);
      }
  CHECK(ways.accepted() == 4);
}

TEST_CASE("tns: a probe sent before the server leg is up comes urgent and in place") {
  lab::InlineLabSettings settings;
  settings.server_link = lab::LinkSettings::round_trip(200ms);
  const TwoWays ways{"1521", "", std::move(settings)};
  for (const auto& [through, direct] : TwoWays::pairs())
    for (const bool in_line : {false, true}) {
      CAPTURE(through, in_line);
      const std::string place = lab::endpoint(through, tns::kPort);
      lab::SocketOptions options;
      options.urgent_inline = in_line;
      const auto listener = lab::Socket::listen(ways.server(), place, options);
      const auto client = lab::Socket::connect(ways.client(), place);
      client.send_urgent(tns::kUrgent);
      REQUIRE(client.send_all("behind it") == lab::End::done);
      const auto server = listener.accept();
      CHECK(tns::take_urgent(server) == tns::Urgent{true, true, std::string(1, tns::kUrgent)});
      CHECK(server.receive_exactly(9).bytes == "behind it");
    }
}

TEST_CASE("tns: each question of 21 bytes with its answer of 9,356 is one exchange in the session's line") {
  const TwoWays ways{"1521"};
  constexpr int kQuestions = 40, kLogIn = 2;
  {
    const tns::Pair pair = tns::make_pair(ways, lab::endpoint(lab::kServer4, tns::kPort));
    for (int n = 0; n < kQuestions; ++n) REQUIRE(tns::exchange(pair, tns::kRequest, tns::kAnswer));
  }
  REQUIRE(ways.daemon().logged("closed="));
  CHECK_THAT(ways.daemon().log(), Contains(" exchanges=" + std::to_string(kLogIn + kQuestions) + " "));
}

TEST_CASE("tns: packets of the largest SDU cross both ways, in both families") {
  const TwoWays ways{"1521"};
  for (const auto& [through, direct] : TwoWays::pairs()) {
    CAPTURE(through);
    const tns::Pair pair = tns::make_pair(ways, lab::endpoint(through, tns::kPort));
    for (int n = 0; n < 4; ++n) CHECK(tns::exchange(pair, tns::kSdu, tns::kSdu));
  }
}
