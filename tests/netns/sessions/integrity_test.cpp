// SPDX-License-Identifier: GPL-3.0-or-later
#include <atomic>
#include <random>
#include <thread>

#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

struct Transfer {
  bool up = false;
  std::string bytes;
  std::size_t piece = 0;         // bytes a write
  std::size_t reader_waits = 0;  // reads nothing until so much is there, or the writer is done
  bool at_once = false;          // close(2) right after the last byte, not shutdown
};

Transfer random_transfer(std::uint64_t seed) {
  std::mt19937_64 random{seed};
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  Transfer transfer;
  transfer.up = below(2) == 0;
  const std::size_t size = std::size_t{1} << below(22);  // 1 B to 2 MiB, each order as often
  transfer.bytes = lab::pattern(1 + below(size), seed);
  transfer.piece = 1 + below(below(2) == 0 ? 2'000 : 200'000);
  transfer.reader_waits = below(2) == 0 ? 0 : below(20'000);
  transfer.at_once = below(2) == 0;
  return transfer;
}

void write(lab::Socket& socket, const Transfer& transfer, std::atomic<bool>& done) {
  for (std::size_t at = 0; at < transfer.bytes.size(); at += transfer.piece)
    socket.send_all(std::string_view{transfer.bytes}.substr(at, transfer.piece), 60s);
  if (transfer.at_once)
    socket.close();
  else
    socket.shutdown_write();
  done = true;
}

// What arrived and how it ended.
lab::Received carry(Ends& ends, const Transfer& transfer) {
  lab::Socket& from = transfer.up ? ends.client : ends.server;
  const lab::Socket& to = transfer.up ? ends.server : ends.client;
  std::atomic<bool> done = false;
  std::jthread writer{[&] { write(from, transfer, done); }};
  eventually([&] { return done || to.unread() >= transfer.reader_waits; });
  return to.receive_to_end(60s);
}

}  // namespace

TEST_CASE("no byte is lost: 200 transfers of random size, direction, pieces, pauses and way to close") {
  constexpr std::uint64_t kTransfers = 200, kThreads = 4;
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  std::atomic<std::uint64_t> next = 0;
  std::vector<std::string> wrong(kThreads);
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (std::uint64_t seed = ++next; seed <= kTransfers; seed = ++next) {
          const Transfer transfer = random_transfer(seed);
          Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, static_cast<std::uint16_t>(5001 + t)));
          const auto heard = carry(ends, transfer);
          if (heard.bytes != transfer.bytes || heard.end != lab::End::end_of_stream)
            wrong[t] += " seed " + std::to_string(seed) + ": " + std::to_string(heard.bytes.size()) + " of " +
                        std::to_string(transfer.bytes.size()) + ", " + to_text(heard.end);
        }
      });
  }
  for (const std::string& text : wrong) CHECK(text == "");
  CHECK(eventually([&] { return daemon.status()["sessions"] == 0; }));
  CHECK(daemon.status()["counters"]["accepted"] == kTransfers);
}

TEST_CASE("no byte is lost: an upload over a slow link whose client closes at once is whole") {
  lab::InlineLabSettings settings;
  settings.server_link = lab::LinkSettings::round_trip(20ms, 2'000'000, 32 * 1024);
  const lab::InlineLab lab{settings};
  const Daemon daemon{lab};
  Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, 5001));
  const std::string bytes = lab::pattern(500'000);
  REQUIRE(ends.client.send_all(bytes, 30s) == lab::End::done);
  ends.client.close();
  const auto heard = ends.server.receive_to_end(30s);
  CHECK(heard.bytes == bytes);
  CHECK(heard.end == lab::End::end_of_stream);
  ends.server.close();
  CHECK(daemon.logged("bytes=500000/0 "));
  CHECK(daemon.logged("closed=client_fin"));
}
