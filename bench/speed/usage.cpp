// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/usage.hpp"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace headrace::lab {
namespace {

constexpr int kFieldsBeforeTimes = 11;  // of /proc/PID/stat, after the name: proc(5)

std::string proc(pid_t pid, const char* file) { return "/proc/" + std::to_string(pid) + "/" + file; }

double cpu_seconds_of(pid_t pid) {
  std::ifstream file(proc(pid, "stat"));
  std::string line;
  std::getline(file, line);
  const std::size_t name_ends = line.rfind(')');
  if (name_ends == std::string::npos) return 0;
  std::istringstream fields(line.substr(name_ends + 1));
  std::string skipped;
  for (int field = 0; field < kFieldsBeforeTimes; ++field) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

cpu_set_t only(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  return set;
}

bool has_two_cpus() { return sysconf(_SC_NPROCESSORS_ONLN) >= 2; }

}  // namespace

std::vector<pid_t> with_children(pid_t pid) {
  std::vector<pid_t> all{pid};
  const std::string id = std::to_string(pid);
  std::ifstream children("/proc/" + id + "/task/" + id + "/children");
  for (pid_t child = 0; children >> child;) all.push_back(child);
  return all;
}

double cpu_seconds(const std::vector<pid_t>& pids) {
  double sum = 0;
  for (const pid_t pid : pids) sum += cpu_seconds_of(pid);
  return sum;
}

std::int64_t resident_bytes(const std::vector<pid_t>& pids) {
  std::int64_t sum = 0;
  for (const pid_t pid : pids) {
    std::ifstream file(proc(pid, "statm"));
    std::int64_t size = 0;
    std::int64_t resident = 0;
    file >> size >> resident;
    sum += resident * sysconf(_SC_PAGESIZE);
  }
  return sum;
}

std::optional<std::string> why_not_pinned() {
  if (has_two_cpus()) return std::nullopt;
  return "one CPU only: nothing was pinned, and the proxy and both ends shared it in every row";
}

void pin(const std::vector<pid_t>& pids, int cpu) {
  if (!has_two_cpus()) return;
  const cpu_set_t set = only(cpu);
  for (const pid_t pid : pids) {
    for (const auto& task : std::filesystem::directory_iterator(proc(pid, "task"))) {
      sched_setaffinity(std::atoi(task.path().filename().c_str()), sizeof set, &set);
    }
  }
}

void pin_this_thread(int cpu) {
  const cpu_set_t set = only(cpu);
  if (has_two_cpus()) sched_setaffinity(0, sizeof set, &set);
}

PinnedHere::PinnedHere(int cpu) { pin_this_thread(cpu); }

PinnedHere::~PinnedHere() {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &all);
  sched_setaffinity(0, sizeof all, &all);
}

void leave_signals_to_the_main_thread() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

double load_average() {
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  return load;
}

}  // namespace headrace::lab
