// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdlib>
#include <fstream>

#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

std::size_t resident_kib(pid_t pid) {
  std::ifstream status{"/proc/" + std::to_string(pid) + "/status"};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::strtoul(line.c_str() + 6, nullptr, 10);
  return 0;
}

// Writes what is taken at once to each; how much that was.
std::size_t write_some(const std::vector<Ends>& sessions, std::string_view bytes,
                       std::vector<std::size_t>& sent) {
  std::size_t total = 0;
  for (std::size_t n = 0; n < sessions.size(); ++n) {
    const std::size_t taken = sessions[n].server.send_some(bytes.substr(sent[n] % 1000, 60'000));
    sent[n] += taken;
    total += taken;
  }
  return total;
}

}  // namespace

TEST_CASE("slow reader: 64 readers that do not read stop their senders and cost little memory") {
  ::setenv("ASAN_OPTIONS", "quarantine_size_mb=1", 1);  // or freed memory stays resident in a sanitized build
  constexpr std::size_t kSessions = 64;
  constexpr std::size_t kHeldEach = 128 * 1024;  // a read, and a pipe at most
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  const std::string bytes(61'000, 'x');
  std::vector<Ends> sessions;
  for (std::size_t n = 0; n < kSessions; ++n)
    sessions.push_back(connect_ends(lab, lab::endpoint(lab::kServer4, 5001)));
  const std::size_t before = resident_kib(daemon.pid());
  std::vector<std::size_t> sent(kSessions);
  // Until nothing was taken by anybody for a second.
  auto last = std::chrono::steady_clock::now();
  eventually(
      [&] {
        if (write_some(sessions, bytes, sent) > 0) last = std::chrono::steady_clock::now();
        return since(last) > 1s;
      },
      60s);
  CHECK(since(last) > 1s);
  const std::size_t after = resident_kib(daemon.pid());
  CAPTURE(before, after);
  CHECK(daemon.status()["held_bytes"] <= kSessions * kHeldEach);
  CHECK(after < before + kSessions * kHeldEach / 1024 + 16 * 1024);
  for (std::size_t n = 0; n < kSessions; ++n) {
    CHECK(sent[n] < 32U << 20);
    sessions[n].server.shutdown_write();
    const auto heard = sessions[n].client.receive_to_end(30s);
    CHECK(heard.bytes.size() == sent[n]);
    CHECK(heard.end == lab::End::end_of_stream);
  }
  CHECK(daemon.status()["held_bytes"] == 0);
}
