// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <thread>

#include "bench/workload/exchange.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

using Seconds = std::chrono::duration<double>;

lab::InlineLabSettings no_offload() {
  lab::InlineLabSettings settings;
  settings.client_veth.offload = settings.server_veth.offload = false;
  return settings;
}

// Bits of IP a second that reach the client once the burst is over.
double paced_rate(const lab::InlineLab& lab) {
  const lab::Capture capture{lab.client, "eth0"};
  const Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, 5001));
  constexpr std::size_t kSize = 5'000'000;
  std::jthread server{[&] { ends.server.send_all(lab::pattern(kSize), 60s); }};
  REQUIRE(ends.client.receive_exactly(kSize, 60s).bytes.size() == kSize);
  const auto data =
      capture.packets([](const lab::Packet& p) { return p.from_port == 5001 && p.payload > 0; });
  REQUIRE(capture.missed() == 0);
  std::size_t payload = 0, wire = 0, from = 0;
  while (payload < 100'000) payload += data[from++].payload;
  for (std::size_t i = from; i < data.size(); ++i) wire += data[i].size;
  return static_cast<double>(wire) * 8 / Seconds{data.back().time - data[from - 1].time}.count();
}

}  // namespace

TEST_CASE("leg settings: a transfer holds its pace in bytes of IP") {
  const lab::InlineLab lab{no_offload()};
  const Daemon daemon{
      lab, with_policies(policy(5001, leg("congestion = \"cubic\", pace = \"20mbit\", burst = \"50kB\""),
                                "\"plain\""))};
  // A machine that does other things only ever makes it slower: the best of three tries is the program's own.
  double rate = 0;
  for (int tries = 3; tries > 0 && rate < 20e6 * 0.975; --tries) rate = std::max(rate, paced_rate(lab));
  INFO("rate " << rate / 1e6 << " Mbit/s of IP");
  CHECK(rate == Approx(20e6).epsilon(0.03));
}

TEST_CASE("leg settings: a burst within its limit takes one round trip whatever the pace, again and again") {
  lab::InlineLabSettings wan;
  wan.client_link = lab::LinkSettings::round_trip(40ms, 100'000'000, 512 * 1024);
  const lab::InlineLab lab{wan};
  DaemonSettings settings =
      with_policies(policy(5001, leg("pace = \"2mbit\", burst = \"60kB\"", "wan-interactive"), "\"lan\""),
                    "[kernel]\nslow_start_after_idle = false\n");
  const Daemon daemon{lab, settings};
  const Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, 5001));
  for (int i = 0; i < 4; ++i) {
    CAPTURE(i);
    const auto start = std::chrono::steady_clock::now();
    REQUIRE(ends.client.send_all("question") == lab::End::done);
    REQUIRE(ends.server.receive_exactly(8).bytes == "question");
    REQUIRE(ends.server.send_all(lab::pattern(50'000)) == lab::End::done);
    REQUIRE(ends.client.receive_exactly(50'000).bytes.size() == 50'000);
    CHECK(lab::round_trips(since(start), 50'000, 100'000'000, 40ms) < 2);  // at the pace: six
    // The bucket fills at the pace: 50,000 bytes in 0.2 s. Nothing is to be waited for but time.
    CHECK_FALSE(ends.client.receive_exactly(1, 400ms).end == lab::End::done);
  }
}
