// SPDX-License-Identifier: GPL-3.0-or-later
#include <random>

#include "tests/proxy/relay_rig.hpp"
#include "tests/proxy/waiting.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

constexpr std::size_t kBulk = 3 * 1024 * 1024 + 17;  // well past where splice begins

RelayRig::Settings without_pipes() {
  RelayRig::Settings settings;
  settings.pipes = 0;
  return settings;
}

RelayRig::Settings with_small_buffers() {
  RelayRig::Settings settings;
  settings.client.receive_buffer = settings.server.receive_buffer = 16 * 1024;
  return settings;
}

// Sends before anybody reads, until the relay holds bytes and has stopped reading; then reads all of it.
std::string carry_to_late_reader(RelayRig& rig, const std::string& bytes) {
  const auto sent = in_background([&] { return rig.client.send_all(bytes, 20s); });
  rig.settle();
  auto received = in_background([&] { return rig.server.receive_exactly(bytes.size(), 20s); });
  if (!rig.run_until([&] { return is_done(sent) && is_done(received); })) return {};
  return received.get().bytes;
}

}  // namespace

TEST_CASE("pump: a small message arrives whole") {
  RelayRig rig;
  CHECK(rig.carry_to_server("hello") == "hello");
  CHECK(rig.carry_to_client("world") == "world");
}

TEST_CASE("pump: messages of every size around a read arrive whole and in order") {
  RelayRig rig;
  for (const std::size_t size : {1UL, 4095UL, 4096UL, 65535UL, 65536UL, 65537UL, 131072UL, 131073UL}) {
    INFO("size " << size);
    const std::string bytes = lab::pattern(size, size);
    CHECK(compare(rig.carry_to_server(bytes), bytes) == kWhole);
    CHECK(compare(rig.carry_to_client(bytes), bytes) == kWhole);
  }
}

TEST_CASE("pump: a bulk transfer is spliced and arrives whole") {
  RelayRig rig;
  const std::size_t before = open_descriptors();
  const std::string bytes = lab::pattern(kBulk);
  CHECK(compare(rig.carry_to_server(bytes), bytes) == kWhole);
  CHECK(open_descriptors() == before + 2);  // the pipe, kept for the next one
}

TEST_CASE("pump: a bulk transfer without a pipe is copied and arrives whole") {
  RelayRig rig{without_pipes()};
  const std::string bytes = lab::pattern(kBulk);
  CHECK(compare(rig.carry_to_client(bytes), bytes) == kWhole);
}

TEST_CASE("pump: both directions at once keep their bytes apart") {
  RelayRig rig;
  const std::string up = lab::pattern(kBulk, 1);
  const std::string down = lab::pattern(kBulk, 2);
  const auto sent_up = in_background([&] { return rig.client.send_all(up, 20s); });
  const auto sent_down = in_background([&] { return rig.server.send_all(down, 20s); });
  auto at_server = in_background([&] { return rig.server.receive_exactly(up.size(), 20s); });
  auto at_client = in_background([&] { return rig.client.receive_exactly(down.size(), 20s); });
  REQUIRE(rig.run_until([&] { return is_done(at_server) && is_done(at_client); }));
  CHECK(compare(at_server.get().bytes, up) == kWhole);
  CHECK(compare(at_client.get().bytes, down) == kWhole);
}

TEST_CASE("pump: transfers of random size to a reader that pauses arrive whole") {
  std::mt19937 random{20240611};
  for (int round = 0; round < 20; ++round) {
    RelayRig rig{round % 2 == 0 ? with_small_buffers() : RelayRig::Settings{}};
    const std::string bytes = lab::pattern(1 + random() % 1'500'000, random());
    INFO("round " << round << ", " << bytes.size() << " bytes");
    CHECK(compare(carry_to_late_reader(rig, bytes), bytes) == kWhole);
  }
}

TEST_CASE("pump: a slow reader stops the sender and what is held stays bounded") {
  RelayRig rig{with_small_buffers()};
  const std::string bytes = lab::pattern(32 * 1024 * 1024);
  const auto sent = in_background([&] { return rig.client.send_all(bytes, 30s); });
  rig.settle();
  CHECK_FALSE(is_done(sent));
  CHECK(rig.held_bytes() > 0);
  CHECK(rig.held_bytes() <= kPipeSize + kReadSize);
  auto received = in_background([&] { return rig.server.receive_exactly(bytes.size(), 30s); });
  REQUIRE(rig.run_until([&] { return is_done(received); }, 30s));
  CHECK(compare(received.get().bytes, bytes) == kWhole);
}

TEST_CASE("pump: the budget is whole again once everything has gone on") {
  RelayRig rig{with_small_buffers()};
  carry_to_late_reader(rig, lab::pattern(kBulk));
  rig.settle();
  CHECK(rig.held_bytes() == 0);
}

TEST_CASE("pump: the budget is whole again when a session ends with bytes inside") {
  RelayRig rig{with_small_buffers()};
  const std::string bytes = lab::pattern(32 * 1024 * 1024);
  const auto sent = in_background([&] { return rig.client.send_all(bytes, 20s); });
  rig.settle();
  REQUIRE(rig.held_bytes() > 0);
  rig.close_legs();
  CHECK(rig.held_bytes() == 0);
}

TEST_CASE("pump: above the memory ceiling every session still moves") {
  RelayRig::Settings settings = with_small_buffers();
  settings.memory = 1;
  RelayRig rig{settings};
  const std::string bytes = lab::pattern(kBulk);
  CHECK(compare(carry_to_late_reader(rig, bytes), bytes) == kWhole);
}

TEST_CASE("pump: nothing to do is nothing done") {
  RelayRig rig;
  rig.carry_to_server(lab::pattern(kBulk));
  rig.carry_to_client(lab::pattern(kBulk));
  rig.settle();
  const std::size_t runs = rig.runs();
  CHECK_FALSE(rig.relay.has_more());
  CHECK_FALSE(rig.run_until([] { return false; }, 200ms));
  CHECK(rig.runs() == runs);
}

TEST_CASE("pump: a sender that is stopped by its reader costs no turns") {
  RelayRig rig{with_small_buffers()};
  const std::string bytes = lab::pattern(32 * 1024 * 1024);
  const auto sent = in_background([&] { return rig.client.send_all(bytes, 5s); });
  rig.settle();
  const std::size_t runs = rig.runs();
  CHECK_FALSE(rig.run_until([] { return false; }, 200ms));
  // The sender may fill its own buffer late, and window probes may be answered; a spin makes thousands.
  CHECK(rig.runs() <= runs + 100);
  rig.close_legs();
}

}  // namespace headrace
