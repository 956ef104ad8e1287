// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/resource.h>

#include <stdexcept>
#include <thread>

#include "bench/speed/ends.hpp"
#include "bench/speed/load.hpp"
#include "bench/speed/scale_daemon.hpp"
#include "bench/speed/scale_parts.hpp"
#include "bench/speed/usage.hpp"

namespace headrace::lab {
namespace {

constexpr int kPort = 7000;
constexpr int kReserve = 500;  // descriptors for all but the sessions' two ends

// Both ends of all sessions are this process's.
void make_room_for(int sessions) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const auto needed = static_cast<rlim_t>(2 * sessions + kReserve);
  if (limit.rlim_max < needed)
    throw std::runtime_error(std::to_string(sessions) + " sessions need " + std::to_string(needed) +
                             " descriptors, and the hard limit is " + std::to_string(limit.rlim_max));
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// The same number of warm-up exchanges whatever the number of sessions: each session has had one already.
double cost_over(const std::vector<Socket>& sessions, std::size_t used, int exchanges, pid_t daemon) {
  const auto run = [&](int count) {
    for (int i = 0; i < count; ++i) exchange(sessions[static_cast<std::size_t>(i) % used]);
  };
  run(exchanges / 10);
  const double before = cpu_seconds({daemon});
  run(exchanges);
  return (cpu_seconds({daemon}) - before) / exchanges;
}

}  // namespace

SessionCost cost_with_sessions(const std::filesystem::path& headrace, int sessions, int exchanges) {
  make_room_for(sessions);
  const InlineLab lab;
  const ScaleDaemon daemon(lab, headrace, policy_for_the_lab());
  const EchoServer server(lab.server, kPort, kEndsCpu);
  pin({daemon.pid()}, kProxyCpu);
  const PinnedHere here(kEndsCpu);
  const std::vector<Socket> open = open_idle(lab.client, {endpoint(kServer4, kPort)}, sessions);
  const auto size = open.size();
  return {cost_over(open, size, exchanges, daemon.pid()), cost_over(open, 1, exchanges, daemon.pid())};
}

}  // namespace headrace::lab
