// SPDX-License-Identifier: GPL-3.0-or-later
#include <chrono>

#include "bench/speed/scale_daemon.hpp"
#include "bench/speed/scale_parts.hpp"
#include "bench/speed/usage.hpp"

namespace headrace::lab {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A host each, one port, the usual legs: what a list that a program made looks like. The last has
// `last_port`.
std::string many_policies(int count, int last_port) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const int host = 2 * i;
    const std::string address = "10." + std::to_string(host >> 16) + "." + std::to_string((host >> 8) & 255) +
                                "." + std::to_string(host & 255);
    text += "[[policy]]\nname = \"p" + std::to_string(i) + "\"\nto = [\"" + address + "\"]\nports = [" +
            std::to_string(i + 1 == count ? last_port : 1521) +
            "]\nclient_leg = \"lan\"\nserver_leg = \"lan\"\n\n";
  }
  return text;
}

struct Reload {
  double seconds = 0;
  ScaleDaemon::Nft nft;
};

Reload reload(const ScaleDaemon& daemon) {
  const ScaleDaemon::Nft before = daemon.nft_so_far();
  const auto start = Clock::now();
  daemon.reload();
  const double took = seconds_since(start);
  const ScaleDaemon::Nft after = daemon.nft_so_far();
  return {took, {after.seconds - before.seconds, after.bytes - before.bytes}};
}

}  // namespace

ReloadCost cost_of_reload(const std::filesystem::path& headrace, int policies) {
  ReloadCost cost;
  const InlineLab lab;
  const auto start = Clock::now();
  const ScaleDaemon daemon(lab, headrace, many_policies(policies, 1521));
  cost.start = seconds_since(start);
  cost.sent_at_start = daemon.nft_so_far().bytes;
  cost.sent_unchanged = reload(daemon).nft.bytes;
  daemon.write_policies(many_policies(policies, 1522));
  const double before = cpu_seconds({daemon.pid()});
  const Reload changed = reload(daemon);
  cost.cpu = cpu_seconds({daemon.pid()}) - before;
  cost.nft = changed.nft.seconds;
  cost.own = changed.seconds - changed.nft.seconds;
  cost.sent = changed.nft.bytes;
  return cost;
}

}  // namespace headrace::lab
