// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What processes use and where they run, from /proc; what threads hear.
namespace headrace::lab {

std::vector<pid_t> with_children(pid_t pid);

// User and system time (/proc/PID/stat), all threads, in steps of 10 ms. Soft interrupts count for whom they
// interrupt: mostly the sender whose packet they deliver, but not what ksoftirqd or the ends run.
double cpu_seconds(const std::vector<pid_t>& pids);
std::int64_t resident_bytes(const std::vector<pid_t>& pids);  // /proc/PID/statm

// The proxy gets one CPU and both ends the other. Does nothing where there is one CPU only.
inline constexpr int kProxyCpu = 0, kEndsCpu = 1;
std::optional<std::string> why_not_pinned();        // for a report's notes
void pin(const std::vector<pid_t>& pids, int cpu);  // with all their threads
void pin_this_thread(int cpu);

// Lets the calling thread run on one CPU as long as it lives.
class PinnedHere {
 public:
  explicit PinnedHere(int cpu);
  PinnedHere(PinnedHere&&) = delete;
  ~PinnedHere();
};

// Of threads besides the main one: the signals that end the program are heard by that one alone.
void leave_signals_to_the_main_thread();

double load_average();  // over the last minute

}  // namespace headrace::lab
