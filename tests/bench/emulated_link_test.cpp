// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/emulated_link.hpp"

#include <algorithm>
#include <thread>

#include "bench/lab/capture.hpp"
#include "bench/lab/socket.hpp"
#include "tests/test.hpp"

namespace headrace::lab {
namespace {

using Clock = std::chrono::steady_clock;

struct TwoHosts {
  explicit TwoHosts(const LinkSettings& settings)
      : link({a, "eth0", {"198.18.1.1/24", "2001:db8:1::1/64"}},
             {b, "eth0", {"198.18.1.2/24", "2001:db8:1::2/64"}}, settings) {}

  Namespace a{"link-a"};
  Namespace b{"link-b"};
  EmulatedLink link;
};

std::chrono::nanoseconds median_connect(const TwoHosts& hosts, const std::string& at) {
  const Socket listener = Socket::listen(hosts.b, at);
  std::vector<std::chrono::nanoseconds> times;
  for (int n = 0; n < 15; ++n) {
    const auto start = Clock::now();
    const Socket client = Socket::connect(hosts.a, at);
    times.push_back(Clock::now() - start);
    listener.accept();
  }
  std::nth_element(times.begin(), times.begin() + 7, times.end());
  return times[7];
}

// Payload bit/s from the first byte received to the last.
double measure_rate(const TwoHosts& hosts, std::size_t size) {
  const Socket listener = Socket::listen(hosts.b, "198.18.1.2:5000");
  SocketOptions options;
  options.congestion = "cubic";
  options.send_buffer = 1 << 20;
  const Socket client = Socket::connect(hosts.a, "198.18.1.2:5000", options);
  const Socket server = listener.accept();
  std::thread sender([&] { client.send_all(std::string(size, 'x'), 60s); });
  const std::size_t warm_up = size / 4;
  server.receive_exactly(warm_up, 60s);
  const auto start = Clock::now();
  const std::size_t got = server.receive_exactly(size - warm_up, 60s).bytes.size();
  const std::chrono::duration<double> took = Clock::now() - start;
  sender.join();
  return static_cast<double>(got) * 8 / took.count();
}

bool is_syn(const Packet& packet) { return packet.syn && !packet.ack; }
bool is_syn_ack(const Packet& packet) { return packet.syn && packet.ack; }

}  // namespace

TEST_CASE("link: the round trip is the delay both ways, within a millisecond") {
  LinkSettings settings;
  settings.a_to_b.delay = 25ms;
  settings.b_to_a.delay = 15ms;
  const TwoHosts hosts(settings);
  for (const char* at : {"198.18.1.2:5000", "[2001:db8:1::2]:5000"}) {
    // A machine that does other things only ever makes it longer.
    double took = 1000;
    for (int attempt = 0; attempt < 5 && took > 41; ++attempt)
      took = std::min(took, std::chrono::duration<double, std::milli>(median_connect(hosts, at)).count());
    WARN("round trip of 40 ms measured as " << took << " ms");
    CHECK(took >= 40);
    CHECK(took <= 41);
  }
}

TEST_CASE("link: the rate is what was asked for, within 2 %") {
  for (const std::uint64_t rate : {std::uint64_t{1'536'000}, std::uint64_t{50'000'000}}) {
    const TwoHosts hosts(LinkSettings::round_trip(10ms, rate, 256 * 1024));
    const double expected = static_cast<double>(rate) * (1500 - 52) / 1500;  // timestamps take 12 bytes
    double measured = 0;
    for (int attempt = 0; attempt < 3 && std::abs(measured / expected - 1) > 0.02; ++attempt) {
      measured = measure_rate(hosts, rate / 8 * 2);
    }
    WARN("rate " << rate << " measured as " << measured * 1500 / (1500 - 52));
    CHECK(measured == Approx(expected).epsilon(0.02));
  }
}

TEST_CASE("link: the two ends see each other's sequence numbers moved, and the bytes whole") {
  const TwoHosts hosts(LinkSettings{});
  const Capture at_a(hosts.a, "eth0");
  const Capture at_b(hosts.b, "eth0");
  for (const char* at : {"198.18.1.2:5000", "[2001:db8:1::2]:5000"}) {
    const Socket listener = Socket::listen(hosts.b, at);
    const Socket client = Socket::connect(hosts.a, at);
    const Socket server = listener.accept();
    const std::uint16_t port = client.local_port();
    const auto of_this = [&](const Packet& packet) {
      return packet.from_port == port || packet.to_port == port;
    };
    const auto syn = [&](const Packet& packet) { return is_syn(packet) && of_this(packet); };
    const auto syn_ack = [&](const Packet& packet) { return is_syn_ack(packet) && of_this(packet); };
    CHECK(at_a.wait_for(syn, 10s)->seq != at_b.wait_for(syn, 10s)->seq);
    CHECK(at_a.wait_for(syn_ack, 10s)->seq != at_b.wait_for(syn_ack, 10s)->seq);
    CHECK(at_a.wait_for(syn_ack, 10s)->acknowledges == at_a.wait_for(syn, 10s)->seq + 1);
    std::thread sender([&] { client.send_all(pattern(3'000'000)); });
    CHECK(server.receive_exactly(3'000'000).bytes == pattern(3'000'000));
    sender.join();
  }
}

TEST_CASE("link: without translation both ends see the same numbers") {
  LinkSettings settings;
  settings.translate_sequence_numbers = false;
  const TwoHosts hosts(settings);
  const Capture at_a(hosts.a, "eth0");
  const Capture at_b(hosts.b, "eth0");
  const Socket listener = Socket::listen(hosts.b, "198.18.1.2:5000");
  const Socket client = Socket::connect(hosts.a, "198.18.1.2:5000");
  CHECK(at_a.wait_for(is_syn, 10s)->seq == at_b.wait_for(is_syn, 10s)->seq);
}

TEST_CASE("link: with loss, selective acknowledgements survive the translation and the bytes arrive whole") {
  LinkSettings settings = LinkSettings::round_trip(4ms, 100'000'000, 256 * 1024);
  settings.a_to_b.loss = 0.02;
  const TwoHosts hosts(settings);
  const Capture at_a(hosts.a, "eth0");
  const Socket listener = Socket::listen(hosts.b, "198.18.1.2:5000");
  const Socket client = Socket::connect(hosts.a, "198.18.1.2:5000");
  const Socket server = listener.accept();
  std::thread sender([&] { client.send_all(pattern(1'000'000), 60s); });
  CHECK(server.receive_exactly(1'000'000, 60s).bytes == pattern(1'000'000));
  sender.join();
  CHECK(client.tcp().retransmits > 0);
  const auto sack = at_a.wait_for([](const Packet& packet) { return !packet.sack.empty(); }, 10s);
  REQUIRE(sack);
  // A block that its reader cannot place is ahead of the acknowledgement by chance only: 20 MB is never in
  // flight.
  CHECK(sack->sack.front().first - sack->acknowledges < 20'000'000);
}

}  // namespace headrace::lab
