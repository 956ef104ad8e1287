// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/socket.h>

#include <random>

#include "tests/proxy/relay_rig.hpp"
#include "tests/proxy/waiting.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

// How the server's reading ends when as much as fits is in the client leg's queue, its end too, before the
// relay runs.
std::string send_and_end(RelayRig& rig, const std::string& bytes) {
  constexpr int kMuch = 8 * 1024 * 1024;
  ::setsockopt(rig.client_leg.socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kMuch, sizeof kMuch);
  auto received = in_background([&] { return rig.server.receive_to_end(20s); });
  const auto sent = in_background([&] {
    const lab::End end = rig.client.send_all(bytes, 20s);
    rig.client.shutdown_write();
    return end;
  });
  eventually([&] { return is_done(sent); }, 100ms);
  if (!rig.run_until([&] { return is_done(received); }, 5s)) {
    rig.close_legs();
    return "stalled";
  }
  const lab::Received got = received.get();
  if (got.end != lab::End::end_of_stream) return std::string{"ended by "} + lab::to_text(got.end);
  return compare(got.bytes, bytes);
}

bool to_server_finished(const RelayRig& rig) {
  return rig.relay.to_server().phase() == Pump::Phase::finished;
}

}  // namespace

TEST_CASE("pump: end of stream reaches the server after the last byte") {
  RelayRig rig;
  CHECK(send_and_end(rig, "last words") == kWhole);
}

TEST_CASE("pump: an end with nothing before it reaches the server") {
  RelayRig rig;
  CHECK(send_and_end(rig, "") == kWhole);
}

TEST_CASE("pump: an end that was queued behind many reads is passed on") {
  for (const std::size_t pipes : {0UL, 8UL}) {
    for (std::size_t reads = 1; reads <= 40; ++reads) {
      RelayRig::Settings settings;
      settings.pipes = pipes;
      RelayRig rig{settings};
      const std::string bytes = lab::pattern(reads * kReadSize, reads);
      INFO(reads << " full reads, " << pipes << " pipes");
      REQUIRE(send_and_end(rig, bytes) == kWhole);
    }
  }
}

TEST_CASE("pump: transfers of random size end after their last byte") {
  std::mt19937 random{7};
  for (int round = 0; round < 60; ++round) {
    RelayRig::Settings settings;
    settings.pipes = round % 2 == 0 ? 0 : 8;
    if (round % 3 == 0) settings.server.receive_buffer = 8192;
    RelayRig rig{settings};
    const std::string bytes = lab::pattern(1 + random() % 2'000'000, random());
    INFO("round " << round << ", " << bytes.size() << " bytes");
    REQUIRE(send_and_end(rig, bytes) == kWhole);
  }
}

TEST_CASE("pump: a client that has finished writing still gets a late reply") {
  RelayRig rig;
  rig.client.send_all("request");
  rig.client.shutdown_write();
  REQUIRE(rig.run_until([&] { return to_server_finished(rig); }));
  CHECK(rig.server.receive_to_end().bytes == "request");
  CHECK(rig.relay.is_half_closed());
  CHECK(rig.carry_to_client("late reply") == "late reply");
}

TEST_CASE("pump: a server that has finished writing still gets the rest of the request") {
  RelayRig rig;
  rig.server.send_all("go away");
  rig.server.shutdown_write();
  REQUIRE(rig.run_until([&] { return rig.relay.is_half_closed(); }));
  CHECK(rig.client.receive_to_end().bytes == "go away");
  const std::string rest = lab::pattern(1'000'000);
  CHECK(compare(rig.carry_to_server(rest), rest) == kWhole);
}

TEST_CASE("pump: both ends finishing at once finish the relay") {
  RelayRig rig;
  rig.client.send_all("a");
  rig.server.send_all("b");
  rig.client.shutdown_write();
  rig.server.shutdown_write();
  CHECK(rig.run_until([&] { return rig.relay.is_finished(); }));
  CHECK(rig.client.receive_to_end().bytes == "b");
  CHECK(rig.server.receive_to_end().bytes == "a");
}

TEST_CASE("pump: an end waits behind bytes that the other side would not take yet") {
  RelayRig::Settings settings;
  settings.server.receive_buffer = 8192;
  RelayRig rig{settings};
  const std::string bytes = lab::pattern(6'000'000);
  const auto sent = in_background([&] {
    rig.client.send_all(bytes, 20s);
    rig.client.shutdown_write();
    return true;
  });
  rig.settle();
  CHECK_FALSE(to_server_finished(rig));
  auto received = in_background([&] { return rig.server.receive_to_end(20s); });
  REQUIRE(rig.run_until([&] { return is_done(received); }));
  CHECK(compare(received.get().bytes, bytes) == kWhole);
}

}  // namespace headrace
