// SPDX-License-Identifier: GPL-3.0-or-later
// Readers that do not read, and ends that never end.
#include <cstdlib>

#include "tests/netns/exhaustion/crowd.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kSessions = 200;

// Writes to all until nobody has taken anything for a second; how much each took.
std::vector<std::size_t> fill(const std::vector<Ends>& sessions) {
  const std::string bytes(16'000, 'x');
  std::vector<std::size_t> sent(sessions.size());
  auto last = std::chrono::steady_clock::now();
  eventually(
      [&] {
        for (std::size_t n = 0; n < sessions.size(); ++n) {
          const std::size_t taken = sessions[n].server.send_some(bytes);
          sent[n] += taken;
          if (taken > 0) last = std::chrono::steady_clock::now();
        }
        return since(last) > 1s;
      },
      60s);
  return sent;
}

}  // namespace

TEST_CASE("memory: at limits.memory 200 slow readers cost no more than it, and lose nothing") {
  ::setenv("ASAN_OPTIONS", "quarantine_size_mb=1", 1);  // or freed memory stays resident in a sanitized build
  constexpr std::size_t kCeiling = 1 << 20, kSmallRead = 4 * 1024, kLargeRead = 64 * 1024;
  const lab::InlineLab lab;
  const std::string small = leg("receive_buffer = \"32KiB\", send_buffer = \"32KiB\"", "lan");
  const Daemon daemon{lab, with_policies(policy(5001, small, small) + policy(5002, "\"lan\"", "\"lan\""),
                                         "[limits]\nmemory = \"1MiB\"\nsessions_per_client = \"100%\"\n")};
  lab::SocketOptions options;
  options.receive_buffer = options.send_buffer = 16 * 1024;
  std::vector<Ends> sessions;
  while (sessions.size() < kSessions)
    sessions.push_back(connect_ends(lab, lab::endpoint(lab::kServer4, 5001), options, options));
  const std::size_t before = resident_kib(daemon.pid());
  const auto sent = fill(sessions);
  const std::size_t most = kCeiling + kSessions * kSmallRead + 4 * kLargeRead;
  CHECK(daemon.status()["held_bytes"] <= most);
  CHECK(resident_kib(daemon.pid()) < before + most / 1024 + 16 * 1024);
  CHECK(idle_time_of(daemon, sessions.front().server) < 200ms);
  const Ends quick = connect_ends(lab, lab::endpoint(lab::kServer4, 5002));  // others are served meanwhile
  REQUIRE(quick.client.send_all("quick") == lab::End::done);
  CHECK(quick.server.receive_exactly(5).bytes == "quick");
  for (std::size_t n = 0; n < kSessions; ++n) {
    sessions[n].server.shutdown_write();
    const auto heard = sessions[n].client.receive_to_end(30s);
    CHECK(heard.bytes.size() == sent[n]);
    CHECK(heard.end == lab::End::end_of_stream);
  }
  CHECK(daemon.status()["held_bytes"] == 0);
}

TEST_CASE("half-closed: 200 sessions that the other end never ends are gone after their time") {
  const lab::InlineLab lab;
  DaemonSettings settings;
  settings.more = "[timeouts]\nhalf_closed = \"2s\"\n[limits]\nsessions_per_client = \"100%\"\n";
  const Daemon daemon{lab, settings};
  const std::size_t baseline = descriptors_of(daemon.pid());
  std::vector<lab::Socket> servers;
  while (servers.size() < kSessions) {
    Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, 5001));
    REQUIRE(ends.client.send_all("ten bytes.") == lab::End::done);
    ends.client.close();
    servers.push_back(std::move(ends.server));
  }
  CHECK(daemon.logged("closed=half_closed_timeout", kSessions));
  CHECK(eventually([&] { return descriptors_of(daemon.pid()) <= baseline + 8; }));
  for (const lab::Socket& server : servers) CHECK(server.receive_exactly(10).bytes == "ten bytes.");
}
