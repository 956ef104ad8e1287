// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/socket.h>

#include "proxy/socket.hpp"
#include "tests/proxy/relay_rig.hpp"
#include "tests/proxy/waiting.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

RelayRig::Settings with_urgent_inline() {
  RelayRig::Settings settings;
  settings.client.urgent_inline = settings.server.urgent_inline = true;
  return settings;
}

// The next mark that `socket` meets: what it reads before it, and the byte at it.
struct Marked {
  std::string before;
  std::string mark;
};

Marked read_to_mark(const lab::Socket& socket) {
  Marked out;
  for (;;) {
    // Once bytes wait, a read stops before a mark behind them; only then is it safe to read.
    if (socket.receive_some(1, 10s, MSG_PEEK).end != lab::End::done) return {"no mark came", {}};
    if (socket.at_mark()) break;
    out.before += socket.receive_some(64 * 1024).bytes;
  }
  out.mark = socket.receive_exactly(1).bytes;
  return out;
}

// Drives the relay while `reader` reads up to the next mark.
Marked next_mark(RelayRig& rig, const lab::Socket& reader) {
  auto marked = in_background([&] { return read_to_mark(reader); });
  if (!rig.run_until([&] { return is_done(marked); })) return {"stalled", {}};
  return marked.get();
}

}  // namespace

TEST_CASE("pump: an urgent mark keeps its offset") {
  RelayRig rig{with_urgent_inline()};
  rig.client.send_all("ab");
  rig.client.send_urgent('!');
  rig.client.send_all("cd");
  const Marked marked = next_mark(rig, rig.server);
  CHECK(marked.before == "ab");
  CHECK(marked.mark == "!");
  rig.settle();
  CHECK(rig.server.receive_exactly(2).bytes == "cd");
}

TEST_CASE("pump: an urgent mark to the client keeps its offset") {
  RelayRig rig{with_urgent_inline()};
  rig.server.send_all("ab");
  rig.server.send_urgent('!');
  const Marked marked = next_mark(rig, rig.client);
  CHECK(marked.before == "ab");
  CHECK(marked.mark == "!");
}

TEST_CASE("pump: an urgent byte alone arrives as one") {
  RelayRig rig{with_urgent_inline()};
  rig.client.send_urgent('!');
  const Marked marked = next_mark(rig, rig.server);
  CHECK(marked.before.empty());
  CHECK(marked.mark == "!");
}

TEST_CASE("pump: a receiver without OOBINLINE gets the urgent byte out of band") {
  RelayRig rig;
  rig.client.send_all("ab");
  rig.client.send_urgent('!');
  rig.client.send_all("cd");
  rig.settle();
  CHECK(rig.server.receive_some(1, 5s, MSG_OOB).bytes == "!");
  CHECK(rig.server.receive_exactly(2).bytes == "ab");
  CHECK(rig.server.receive_exactly(2).bytes == "cd");
}

TEST_CASE("pump: an urgent mark as the last byte before the end arrives as one") {
  RelayRig rig{with_urgent_inline()};
  rig.client.send_all("ab");
  rig.client.send_urgent('!');
  rig.client.shutdown_write();
  const Marked marked = next_mark(rig, rig.server);
  CHECK(marked.before == "ab");
  CHECK(marked.mark == "!");
  rig.settle();
  CHECK(rig.server.receive_to_end().end == lab::End::end_of_stream);
}

TEST_CASE("pump: an urgent mark keeps its offset in the middle of a spliced transfer") {
  RelayRig rig{with_urgent_inline()};
  const std::string before = lab::pattern(2'000'003, 1);
  const std::string after = lab::pattern(2'000'003, 2);
  const auto sent = in_background([&] {
    rig.client.send_all(before, 20s);
    rig.client.send_urgent('!');
    rig.client.send_all(after, 20s);
    return true;
  });
  const Marked marked = next_mark(rig, rig.server);
  CHECK(compare(marked.before, before) == kWhole);
  CHECK(marked.mark == "!");
  auto rest = in_background([&] { return rig.server.receive_exactly(after.size(), 20s); });
  REQUIRE(rig.run_until([&] { return is_done(rest); }));
  CHECK(compare(rest.get().bytes, after) == kWhole);
}

TEST_CASE("pump: an urgent mark behind bytes that wait for a slow reader keeps its offset") {
  RelayRig::Settings settings = with_urgent_inline();
  settings.server.receive_buffer = 8192;
  for (const std::size_t pipes : {0UL, 8UL}) {
    settings.pipes = pipes;
    RelayRig rig{settings};
    const std::string before = lab::pattern(6'000'000);
    const auto sent = in_background([&] {
      rig.client.send_all(before, 20s);
      rig.client.send_urgent('!');
      return true;
    });
    rig.settle();
    INFO(pipes << " pipes");
    auto first = in_background([&] { return rig.server.receive_exactly(before.size(), 20s); });
    REQUIRE(rig.run_until([&] { return is_done(first); }));
    REQUIRE(compare(first.get().bytes, before) == kWhole);
    CHECK(next_mark(rig, rig.server).mark == "!");
  }
}

TEST_CASE("pump: marks that are read one after the other all keep their offsets") {
  RelayRig rig{with_urgent_inline()};
  for (int round = 0; round < 50; ++round) {
    INFO("mark " << round);
    const std::string before = lab::pattern(1 + static_cast<std::size_t>(round) * 977, 3);
    const auto sent = in_background([&] {
      rig.client.send_all(before);
      rig.client.send_urgent('!');
      return true;
    });
    const Marked marked = next_mark(rig, rig.server);
    REQUIRE(compare(marked.before, before) == kWhole);
    REQUIRE(marked.mark == "!");
  }
}

TEST_CASE("pump: a mark right behind full reads is not read across") {
  RelayRig rig{with_urgent_inline()};
  const std::string before = lab::pattern(kReadSize);
  rig.client.send_all(before);
  rig.client.send_urgent('!');
  // The mark came after the kernel had told of the bytes: its own edge is still to be noted.
  rig.client_leg.note({.readable = true});
  rig.relay.run(rig.resources);
  const Marked marked = next_mark(rig, rig.server);
  CHECK(compare(marked.before, before) == kWhole);
  CHECK(marked.mark == "!");
}

TEST_CASE("pump: a mark that comes right behind spliced bytes is not read across") {
  RelayRig rig{with_urgent_inline()};
  Pump pump{rig.client_leg, rig.server_leg, {}};
  rig.server_leg.note({.writable = true});
  const std::string chunk = lab::pattern(60'000);
  for (int round = 0; round < 10; ++round) {  // from the fifth on by splice
    REQUIRE(rig.client.send_all(chunk) == lab::End::done);
    REQUIRE(eventually([&] { return unread(rig.client_leg.socket) == chunk.size(); }));
    rig.client_leg.note({.readable = true});
    pump.run(rig.resources);
    REQUIRE(rig.server.receive_exactly(chunk.size()).bytes == chunk);
  }
  // Its share of the turn was over before it found out that nothing is left; then the server spoke.
  rig.client_leg.readable = true;
  pump.other_direction_spoke(rig.resources);
  rig.client.send_urgent('!');
  REQUIRE(eventually([&] { return unread(rig.client_leg.socket) == 1; }));
  pump.run(rig.resources);
  CHECK(read_to_mark(rig.server).mark == "!");
  pump.release(rig.resources);
}

TEST_CASE("pump: a relay with a mark behind it does not spin") {
  RelayRig rig{with_urgent_inline()};
  rig.client.send_all("ab");
  rig.client.send_urgent('!');
  REQUIRE(next_mark(rig, rig.server).mark == "!");
  rig.settle();
  const std::size_t runs = rig.runs();
  CHECK_FALSE(rig.run_until([] { return false; }, 100ms));
  CHECK(rig.runs() == runs);
}

}  // namespace headrace
