// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/proxy/relay_rig.hpp"
#include "tests/proxy/waiting.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

using Phase = Pump::Phase;

// What a session does with a leg that broke: what came before it goes on, then both legs are reset.
lab::Received end_of(RelayRig& rig, const lab::Socket& survivor) {
  auto received = in_background([&] { return survivor.receive_to_end(10s); });
  const bool client_broke = rig.client_leg.broken != 0;
  const Pump& last = client_broke ? rig.relay.to_server() : rig.relay.to_client();
  rig.run_until([&] { return last.phase() == Phase::cut || last.phase() == Phase::finished; });
  rig.settle();
  rig.close_legs();
  return received.get();
}

RelayRig::Settings with_slow_server() {
  RelayRig::Settings settings;
  settings.server.receive_buffer = 8192;
  return settings;
}

}  // namespace

TEST_CASE("pump: a reset by the client is latched and never passed on as an end") {
  RelayRig rig;
  rig.client.reset();
  REQUIRE(rig.run_until([&] { return rig.client_leg.broken != 0; }, 5s));
  CHECK(rig.relay.to_server().phase() == Phase::cut);
  CHECK(end_of(rig, rig.server).end == lab::End::reset);
}

TEST_CASE("pump: a reset by the server is latched and never passed on as an end") {
  RelayRig rig;
  rig.server.reset();
  REQUIRE(rig.run_until([&] { return rig.server_leg.broken != 0; }, 5s));
  CHECK(rig.relay.to_client().phase() == Phase::cut);
  CHECK(end_of(rig, rig.client).end == lab::End::reset);
}

TEST_CASE("pump: bytes before a reset arrive, then the reset") {
  RelayRig rig;
  const std::string bytes = lab::pattern(100'000);
  rig.client.send_all(bytes);
  rig.client.reset();
  REQUIRE(rig.run_until([&] { return rig.client_leg.broken != 0; }, 5s));
  const lab::Received received = end_of(rig, rig.server);
  CHECK(compare(received.bytes, bytes) == kWhole);
  CHECK(received.end == lab::End::reset);
}

TEST_CASE("pump: a reset in the middle of a spliced transfer is a reset") {
  RelayRig rig;
  const std::string bytes = lab::pattern(2'000'000);
  REQUIRE(compare(rig.carry_to_server(bytes), bytes) == kWhole);
  rig.client.reset();
  REQUIRE(rig.run_until([&] { return rig.client_leg.broken != 0; }, 5s));
  CHECK(rig.relay.to_server().phase() == Phase::cut);
}

TEST_CASE("pump: the last partial segment before a reset is not held back") {
  RelayRig::Settings settings;
  settings.memory = 0;  // short reads, which no ACK pushes on (see the bursts in pump_timing_test)
  RelayRig rig{settings};
  const std::string bytes = lab::pattern(kFrugalReadSize);  // one full read: more was to be expected
  rig.server.send_all(bytes);
  rig.server.reset();
  REQUIRE(rig.run_until([&] { return rig.server_leg.broken != 0; }, 5s));
  CHECK(rig.client.receive_exactly(bytes.size(), 50ms).end == lab::End::done);
}

TEST_CASE("pump: a failed write to the client loses nothing that the client had sent") {
  for (int round = 0; round < 20; ++round) {
    RelayRig rig;
    const std::string bytes = lab::pattern(60'000);
    rig.client.send_all(bytes);
    rig.server.send_all("answer");
    rig.client.reset();
    REQUIRE(rig.run_until([&] { return rig.client_leg.broken != 0; }, 5s));
    const lab::Received received = end_of(rig, rig.server);
    INFO("round " << round);
    REQUIRE(compare(received.bytes, bytes) == kWhole);
    REQUIRE(received.end == lab::End::reset);
  }
}

TEST_CASE("pump: a reset after the client's end is seen without waiting for the server to speak") {
  RelayRig rig;
  rig.client.send_all("request");
  rig.client.shutdown_write();
  REQUIRE(rig.run_until([&] { return rig.relay.is_half_closed(); }));
  rig.client.reset();
  CHECK(rig.run_until([&] { return rig.client_leg.broken != 0; }, 2s));
}

TEST_CASE("pump: an end and the reset right behind it pass as both, also where reads were stopped") {
  for (const std::size_t words : {1'000UL, 200'000UL}) {  // fewer than the server's end takes, and more
    RelayRig rig{with_slow_server()};
    const std::string bytes = lab::pattern(words);
    REQUIRE(rig.client.send_all(bytes) == lab::End::done);
    REQUIRE(rig.run_until([&] { return rig.client.unacknowledged() == 0; }));
    rig.settle();
    rig.client.shutdown_write();
    rig.client.reset();
    REQUIRE(rig.run_until([&] { return rig.client_leg.broken != 0; }, 5s));
    auto received = in_background([&] { return rig.server.receive_to_end(10s); });
    REQUIRE(rig.run_until([&] { return is_done(received); }));
    const lab::Received heard = received.get();
    INFO(words << " bytes");
    CHECK(compare(heard.bytes, bytes) == kWhole);
    CHECK(heard.end == lab::End::end_of_stream);
    rig.close_legs();
    CHECK(eventually([&] { return rig.server.send_all("x") == lab::End::broken_pipe; }));
  }
}

TEST_CASE("pump: a reset after the server's end is seen without waiting for the client to speak") {
  RelayRig rig;
  rig.server.shutdown_write();
  REQUIRE(rig.run_until([&] { return rig.relay.is_half_closed(); }));
  rig.server.reset();
  CHECK(rig.run_until([&] { return rig.server_leg.broken != 0; }, 2s));
}

TEST_CASE("pump: a reset is seen while its sender is stopped by back-pressure") {
  RelayRig rig{with_slow_server()};
  const std::string bytes = lab::pattern(32 * 1024 * 1024);
  const auto sent = in_background([&] { return rig.client.send_all(bytes, 2s); });
  rig.settle();
  REQUIRE(rig.held_bytes() > 0);
  REQUIRE(rig.run_until([&] { return is_done(sent); }));
  rig.client.reset();
  CHECK(rig.run_until([&] { return rig.client_leg.broken != 0; }, 2s));
}

TEST_CASE("pump: what was held at a reset arrives before it") {
  RelayRig rig{with_slow_server()};
  const std::string bytes = lab::pattern(32 * 1024 * 1024);
  const auto sent = in_background([&] { return rig.client.send_all(bytes, 1s); });
  REQUIRE(rig.run_until([&] { return is_done(sent); }));
  rig.client.reset();
  rig.settle();
  const lab::Received received = end_of(rig, rig.server);
  CHECK(received.bytes.size() > kReadSize);
  CHECK(compare(received.bytes, bytes.substr(0, received.bytes.size())) == kWhole);
  CHECK(received.end == lab::End::reset);
}

TEST_CASE("pump: a broken relay is not over, so that nobody ends it in order") {
  RelayRig rig;
  rig.server.shutdown_write();
  rig.client.reset();
  rig.settle();
  CHECK_FALSE(rig.relay.is_finished());
}

TEST_CASE("pump: a broken leg does not make the relay spin") {
  RelayRig rig;
  rig.server.send_all("bytes for nobody");
  rig.client.reset();
  rig.settle();
  const std::size_t runs = rig.runs();
  CHECK_FALSE(rig.run_until([] { return false; }, 100ms));
  CHECK(rig.runs() == runs);
}

}  // namespace headrace
