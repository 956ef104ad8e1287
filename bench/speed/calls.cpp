// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/calls.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>

#include "bench/lab/process.hpp"
#include "bench/lab/temp_dir.hpp"

namespace headrace::lab {
namespace {

using namespace std::chrono_literals;

struct Meaning {
  std::string_view name;
  double CallSums::*sum;
};

constexpr std::array<Meaning, 15> kMeanings{{{"epoll_wait", &CallSums::wait},
                                             {"epoll_pwait", &CallSums::wait},
                                             {"epoll_pwait2", &CallSums::wait},
                                             {"poll", &CallSums::wait},
                                             {"recvfrom", &CallSums::receive},
                                             {"recvmsg", &CallSums::receive},
                                             {"read", &CallSums::receive},
                                             {"readv", &CallSums::receive},
                                             {"sendto", &CallSums::send},
                                             {"sendmsg", &CallSums::send},
                                             {"write", &CallSums::send},
                                             {"writev", &CallSums::send},
                                             {"setsockopt", &CallSums::setsockopt},
                                             {"splice", &CallSums::splice},
                                             {"tee", &CallSums::splice}}};

std::vector<std::string> strace_of(const std::vector<pid_t>& pids, const std::string& file) {
  std::vector<std::string> argv{"strace", "-f", "-c", "-U", "name,calls", "-o", file};
  for (const pid_t pid : pids) argv.insert(argv.end(), {"-p", std::to_string(pid)});
  return argv;
}

}  // namespace

CallCounts count_calls(const std::vector<pid_t>& pids, const std::function<void()>& action) {
  const TempDir dir;
  const std::string file = dir / "calls";
  Process strace(strace_of(pids, file));
  if (!strace.wait_for_output("attached", 10s, static_cast<int>(pids.size())))
    throw std::runtime_error("strace did not attach:\n" + strace.output());
  action();
  strace.signal(SIGINT);
  if (!strace.wait(10s)) throw std::runtime_error("strace did not end:\n" + strace.output());
  return parse_call_counts(read_file(file));
}

// Lines of a name and a number; rules, headings and the total are something else.
CallCounts parse_call_counts(std::string_view table) {
  CallCounts counts;
  std::istringstream lines{std::string(table)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name;
    double calls = 0;
    if (fields >> name >> calls && name != "total") counts[name] += calls;
  }
  return counts;
}

CallSums sum_up(const CallCounts& counts) {
  CallSums sums;
  for (const auto& counted : counts) {
    const auto* found = std::find_if(kMeanings.begin(), kMeanings.end(),
                                     [&](const Meaning& meaning) { return meaning.name == counted.first; });
    sums.*(found == kMeanings.end() ? &CallSums::other : found->sum) += counted.second;
  }
  return sums;
}

}  // namespace headrace::lab
