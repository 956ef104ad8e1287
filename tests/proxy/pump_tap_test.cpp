// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/socket.hpp"
#include "tests/proxy/relay_rig.hpp"
#include "tests/proxy/waiting.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

// Passes everything on and remembers it.
class Listening final : public StreamTap {
 public:
  std::span<const std::byte> pass(std::span<const std::byte> bytes, bool) noexcept override {
    seen.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return bytes;
  }
  std::span<const std::byte> end() noexcept override { return {}; }
  std::string seen;
};

// Passes whole lines on, each twice; keeps the rest back.
class Doubling final : public StreamTap {
 public:
  std::span<const std::byte> pass(std::span<const std::byte> bytes, bool mark) noexcept override {
    out_.clear();
    for (const std::byte byte : bytes) {
      line_ += static_cast<char>(byte);
      if (byte != std::byte{'\n'}) continue;
      out_ += line_;
      out_ += std::exchange(line_, {});
    }
    if (mark) out_ += std::exchange(line_, {});
    return std::as_bytes(std::span{out_});
  }
  std::span<const std::byte> end() noexcept override {
    out_ = std::exchange(line_, {});
    return std::as_bytes(std::span{out_});
  }

 private:
  std::string line_;
  std::string out_;
};

lab::Received end_at_server(RelayRig& rig) {
  auto received = in_background([&] { return rig.server.receive_to_end(10s); });
  rig.run_until([&] { return rig.relay.to_server().phase() != Pump::Phase::flowing; }, 5s);
  rig.settle();
  rig.close_legs();
  return received.get();
}

}  // namespace

TEST_CASE("pump: a tap sees every byte, in order, and none is spliced past it") {
  RelayRig rig;
  Listening to_server, to_client;
  rig.relay.set_taps(to_server, to_client);
  const std::string up = lab::pattern(3'000'000, 1), down = lab::pattern(3'000'000, 2);
  CHECK(rig.carry_to_server(up) == up);
  CHECK(rig.carry_to_client(down) == down);
  CHECK(to_server.seen == up);
  CHECK(to_client.seen == down);
}

TEST_CASE("pump: what a tap puts in the place of bytes is what arrives, however much more it is") {
  RelayRig::Settings settings;
  settings.server.receive_buffer = 8192;
  RelayRig rig{settings};
  Doubling to_server, to_client;
  rig.relay.set_taps(to_server, to_client);
  std::string once, twice;
  for (int n = 0; n < 20'000; ++n) {
    const std::string line = "line " + std::to_string(n) + "\n";
    once += line;
    twice += line + line;
  }
  auto received = in_background([&] { return rig.server.receive_exactly(twice.size(), 20s).bytes; });
  const auto sent = in_background([&] { return rig.client.send_all(once, 20s); });
  REQUIRE(rig.run_until([&] { return is_done(received); }));
  CHECK(compare(received.get(), twice) == kWhole);
  CHECK(rig.held_bytes() == 0);
}

TEST_CASE("pump: what a tap kept back arrives before the end of the stream") {
  RelayRig rig;
  Doubling to_server, to_client;
  rig.relay.set_taps(to_server, to_client);
  rig.client.send_all("a\nrest");
  rig.client.shutdown_write();
  const lab::Received received = end_at_server(rig);
  CHECK(received.bytes == "a\na\nrest");
  CHECK(received.end == lab::End::end_of_stream);
}

TEST_CASE("pump: what a tap kept back arrives before a reset") {
  RelayRig rig;
  Doubling to_server, to_client;
  rig.relay.set_taps(to_server, to_client);
  rig.client.send_all("a\nrest");
  rig.client.reset();
  const lab::Received received = end_at_server(rig);
  CHECK(received.bytes == "a\na\nrest");
  CHECK(received.end == lab::End::reset);
}

TEST_CASE("pump: an urgent mark behind a tap marks the same byte, and nothing waits behind it") {
  RelayRig::Settings settings;
  settings.client.urgent_inline = settings.server.urgent_inline = true;
  RelayRig rig{settings};
  Doubling to_server, to_client;
  rig.relay.set_taps(to_server, to_client);
  rig.client.send_all("ab");
  rig.client.send_urgent('!');
  rig.client.send_all("cd\n");
  auto before = in_background([&] {
    rig.server.wait_for_urgent(10s);
    return rig.server.receive_exactly(2, 10s).bytes;
  });
  REQUIRE(rig.run_until([&] { return is_done(before); }));
  CHECK(before.get() == "ab");
  CHECK(rig.server.at_mark());
  rig.settle();
  CHECK(rig.server.receive_exactly(7).bytes == "!cd\ncd\n");
}

}  // namespace headrace
