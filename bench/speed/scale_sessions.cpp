// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/resource.h>

#include "bench/speed/ends.hpp"
#include "bench/speed/load.hpp"
#include "bench/speed/scale_daemon.hpp"
#include "bench/speed/scale_parts.hpp"
#include "bench/speed/usage.hpp"

namespace headrace::lab {
namespace {

constexpr int kPort = 7000;
// The daemon keeps a tenth of its descriptors and some hundreds for itself, and takes new flows only below
// nine tenths of the rest (proxy/admission.cpp).
constexpr double kShareForSessions = 0.8;

rlimit descriptors() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit;
}

void raise_own_limit() {
  rlimit limit = descriptors();
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

std::optional<std::string> why_no_room(int sessions) {
  const double most = static_cast<double>(descriptors().rlim_max) * kShareForSessions;
  if (2.0 * sessions <= most) return std::nullopt;
  return std::to_string(sessions) + " sessions do not fit into " + std::to_string(descriptors().rlim_max) +
         " descriptors (hard limit)";
}

SessionCost cost_with_sessions(const std::filesystem::path& headrace, int sessions, int exchanges) {
  raise_own_limit();
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
