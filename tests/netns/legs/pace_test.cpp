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

namespace {

constexpr std::uint64_t kSlow = 2'000'000;  // bit/s of IP
constexpr auto kOneWay = 20ms;
constexpr std::size_t kBurst = 20'000;  // bytes of payload
constexpr std::size_t kPacket = 1500;

// A slow link with a queue that never drops, so that a sender may show how much of it it fills.
lab::InlineLabSettings slow_link() {
  lab::InlineLabSettings settings;
  settings.client_link = lab::LinkSettings::round_trip(2 * kOneWay, kSlow, 4'000'000);
  return settings;
}

struct Change {
  std::chrono::nanoseconds time;
  std::ptrdiff_t bytes;
};

// The most bytes of IP that stood before the link at a time: what has entered, less what was sent on, each
// one way before it arrives.
std::ptrdiff_t longest_queue(const lab::Capture& entering, const lab::Capture& arriving, int port) {
  const auto data = [=](const lab::Packet& p) { return p.from_port == port && p.payload > 0; };
  std::vector<Change> changes;
  for (const auto& p : entering.packets(data))
    changes.push_back({p.time, static_cast<std::ptrdiff_t>(p.size)});
  for (const auto& p : arriving.packets(data))
    changes.push_back({p.time - kOneWay, -static_cast<std::ptrdiff_t>(p.size)});
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.time < b.time; });
  std::ptrdiff_t queue = 0, longest = 0;
  for (const Change& change : changes) longest = std::max(longest, queue += change.bytes);
  return longest;
}

// A transfer, then answers larger than the burst with pauses in which the bucket fills again.
std::ptrdiff_t queue_of(const lab::InlineLab& lab, const char* address, std::uint16_t port) {
  const lab::Capture entering{lab.middle, "wan0"};
  const lab::Capture arriving{lab.client, "eth0"};
  const Ends ends = connect_ends(lab, lab::endpoint(address, port));
  for (const std::size_t size : {150'000UL, 30'000UL, 30'000UL}) {
    REQUIRE(ends.client.send_all("question") == lab::End::done);
    REQUIRE(ends.server.receive_exactly(8).bytes == "question");
    std::jthread server{[&] { ends.server.send_all(lab::pattern(size), 20s); }};
    REQUIRE(ends.client.receive_exactly(size, 20s).bytes.size() == size);
    REQUIRE(ends.client.receive_exactly(1, 150ms).end == lab::End::timed_out);
  }
  REQUIRE(entering.missed() + arriving.missed() == 0);
  return longest_queue(entering, arriving, port);
}

}  // namespace

TEST_CASE("leg settings: the queue of a slow link never exceeds what burst allows") {
  const lab::InlineLab lab{slow_link()};
  const Daemon daemon{
      lab,
      with_policies(policy(5001, leg("pace = \"2mbit\", burst = \"20kB\"", "wan-interactive"), "\"lan\"") +
                    policy(5002, "\"wan-interactive\"", "\"lan\""))};
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    const std::size_t headers = address == lab::kServer4 ? 52 : 72;
    const std::size_t segments = kBurst / (kPacket - headers) + 1;
    // The packet that the link is sending is still counted, and the bucket is filled at the link's own rate.
    const auto allowed = static_cast<std::ptrdiff_t>(kBurst + segments * headers + kPacket);
    // A machine that does other things makes the link late and its queue look longer: of three tries the
    // best.
    std::ptrdiff_t longest = queue_of(lab, address, 5001);
    for (int tries = 2; tries > 0 && longest > allowed; --tries)
      longest = std::min(longest, queue_of(lab, address, 5001));
    CAPTURE(address);
    CHECK(longest <= allowed);
    CHECK(longest > static_cast<std::ptrdiff_t>(kBurst) / 2);
    CHECK(queue_of(lab, address, 5002) > 2 * allowed);  // what the link would hold without a pace
  }
}
