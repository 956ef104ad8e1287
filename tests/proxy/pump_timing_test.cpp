// SPDX-License-Identifier: GPL-3.0-or-later
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>

#include "tests/proxy/relay_rig.hpp"
#include "tests/proxy/waiting.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

RelayRig::Settings with_hold(std::chrono::milliseconds time) {
  RelayRig::Settings settings;
  settings.to_server.cork = {Cork::Mode::hold, time};
  settings.ticks = false;
  return settings;
}

RelayRig::Settings with_quickack(QuickAck quickack) {
  RelayRig::Settings settings;
  settings.to_server.quickack = quickack;
  return settings;
}

bool acknowledges_at_once(const Leg& leg) {
  int on = 0;
  socklen_t length = sizeof on;
  ::getsockopt(leg.socket.get(), IPPROTO_TCP, TCP_QUICKACK, &on, &length);
  return on != 0;
}

void delay_acknowledgements(const Leg& leg) {
  const int off = 0;
  ::setsockopt(leg.socket.get(), IPPROTO_TCP, TCP_QUICKACK, &off, sizeof off);
}

// The best of some: what the relay adds, not what a busy machine does.
std::chrono::nanoseconds fastest_transfer(RelayRig& rig, std::size_t size) {
  const std::string bytes = lab::pattern(size, size);
  std::chrono::nanoseconds best = 1h;
  for (int attempt = 0; attempt < 5; ++attempt) {
    auto sent = in_background([&] { return rig.server.send_all(bytes); });
    auto received = in_background([&] { return rig.client.receive_exactly(size); });
    const Instant began = Clock::now();
    rig.run_until([&] { return is_done(received); });
    best = std::min<std::chrono::nanoseconds>(best, Clock::now() - began);
    rig.settle();
  }
  return best;
}

}  // namespace

TEST_CASE("pump: the last partial segment of a burst is never held back") {
  // Above the memory ceiling reads are shorter than a loopback segment: nothing is in flight whose ACK would
  // push what MSG_MORE held, and a burst that was left there waits the kernel's 200 ms.
  RelayRig::Settings settings;
  settings.memory = 0;
  RelayRig rig{settings};
  for (const std::size_t reads : {1UL, 2UL, 3UL, 15UL, 16UL, 17UL}) {
    for (const std::size_t more : {0UL, 1UL, 100UL}) {
      INFO(reads << " reads and " << more << " bytes");
      CHECK(fastest_transfer(rig, reads * kFrugalReadSize + more) < 40ms);
    }
  }
}

TEST_CASE("pump: large bursts take no time, copied or spliced") {
  for (const std::size_t pipes : {0UL, 8UL}) {
    RelayRig::Settings settings;
    settings.pipes = pipes;
    RelayRig rig{settings};
    for (const std::size_t reads : {1UL, 2UL, 5UL, 16UL, 20UL}) {
      INFO(reads << " reads, " << pipes << " pipes");
      CHECK(fastest_transfer(rig, reads * kReadSize + 1) < 40ms);
    }
  }
}

TEST_CASE("pump: a held end of burst waits as long as the policy says") {
  RelayRig rig{with_hold(50ms)};
  rig.client.send_all("held");
  rig.settle();
  CHECK(rig.server.unread() == 0);
  const Instant deadline = rig.relay.next_deadline();
  rig.relay.tick(deadline - 1ns);
  CHECK(rig.server.unread() == 0);
  rig.relay.tick(deadline);
  CHECK(rig.server.receive_exactly(4, 150ms).bytes == "held");
}

TEST_CASE("pump: an acknowledgement does not end a hold") {
  RelayRig::Settings settings = with_hold(50ms);
  settings.server.mss = 1000;
  RelayRig rig{settings};
  const std::string bytes = lab::pattern(2500);  // full segments, which are acknowledged, and some
  rig.client.send_all(bytes);
  rig.settle();
  CHECK(rig.server.unread() > 0);
  CHECK(rig.server.unread() < bytes.size());
  rig.relay.tick(rig.relay.next_deadline());
  CHECK(rig.server.receive_exactly(bytes.size(), 150ms).end == lab::End::done);
}

TEST_CASE("pump: a hold counts from the first byte that waits") {
  RelayRig rig{with_hold(50ms)};
  rig.client.send_all("one");
  rig.settle();
  const Instant deadline = rig.relay.next_deadline();
  rig.client.send_all("two");
  rig.settle();
  CHECK(rig.relay.next_deadline() == deadline);
}

TEST_CASE("pump: a hold is over once it was pushed") {
  RelayRig rig{with_hold(50ms)};
  rig.client.send_all("held");
  rig.settle();
  rig.relay.tick(rig.relay.next_deadline());
  CHECK(rig.relay.next_deadline() > Clock::now() + 1h);
}

TEST_CASE("pump: the end of the stream does not wait for a hold") {
  RelayRig rig{with_hold(10s)};
  rig.client.send_all("held");
  rig.client.shutdown_write();
  rig.settle();
  const lab::Received received = rig.server.receive_to_end(100ms);
  CHECK(received.bytes == "held");
  CHECK(received.end == lab::End::end_of_stream);
}

TEST_CASE("pump: an urgent byte does not wait for a hold") {
  RelayRig rig{with_hold(10s)};
  rig.client.send_all("held");
  rig.client.send_urgent('!');
  rig.settle();
  CHECK(rig.server.receive_exactly(4, 100ms).bytes == "held");
}

TEST_CASE("pump: an urgent byte ends a hold, and the next bytes are held again") {
  RelayRig rig{with_hold(10s)};
  rig.client.send_urgent('!');
  rig.settle();
  rig.client.send_all("held");
  rig.settle();
  CHECK(rig.relay.next_deadline() < Clock::now() + 11s);
  rig.relay.tick(rig.relay.next_deadline());
  CHECK(rig.server.receive_exactly(4, 100ms).bytes == "held");
}

TEST_CASE("pump: a hold keeps every byte in order under load") {
  RelayRig::Settings settings = with_hold(5ms);
  settings.ticks = true;
  RelayRig rig{settings};
  const std::string bytes = lab::pattern(3'000'017);
  CHECK(compare(rig.carry_to_server(bytes), bytes) == kWhole);
}

TEST_CASE("pump: reads leave delayed acknowledgements behind") {
  for (const QuickAck quickack : {QuickAck::automatic, QuickAck::always}) {
    RelayRig rig{with_quickack(quickack)};
    delay_acknowledgements(rig.client_leg);
    rig.client.send_all("request");
    rig.settle();
    CHECK(acknowledges_at_once(rig.client_leg));
  }
}

TEST_CASE("pump: acknowledgements are the kernel's where the policy says so") {
  // The kernel does so by itself when its delayed ACK was due before we looked; the relay would each time.
  bool left_alone = false;
  for (int attempt = 0; attempt < 5 && !left_alone; ++attempt) {
    RelayRig rig{with_quickack(QuickAck::off)};
    delay_acknowledgements(rig.client_leg);
    rig.client.send_all("request");
    rig.settle();
    left_alone = !acknowledges_at_once(rig.client_leg);
  }
  CHECK(left_alone);
}

TEST_CASE("pump: a pause in a bulk transfer sends the acknowledgement that waits") {
  RelayRig::Settings settings;
  settings.ticks = false;
  RelayRig rig{settings};
  rig.carry_to_server(lab::pattern(2'000'000));
  const Instant deadline = rig.relay.next_deadline();
  REQUIRE(deadline < Clock::now() + 1s);
  delay_acknowledgements(rig.client_leg);
  rig.relay.tick(deadline);
  CHECK(acknowledges_at_once(rig.client_leg));
}

}  // namespace headrace
