// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/lab/handle.hpp"
#include "bench/lab/namespace.hpp"

namespace headrace::lab {

struct ProcessOptions {
  std::vector<std::string> environment;  // "NAME=value", added to ours
  std::filesystem::path output_file;     // stdout and stderr go here; empty: a file without a name
  bool may_outlive_us = false;           // no SIGKILL when we die, so that release() makes sense
};

struct ExitStatus {
  int code = -1;   // exit status, -1 when a signal ended it
  int signal = 0;  // that signal
  bool operator==(const ExitStatus&) const = default;
};

// A running program. The destructor asks (SIGTERM), waits two seconds, then kills; if we die, the kernel
// kills it. stdout and stderr are collected together, in a file, so that a program that talks a lot never
// blocks. One thread. To drop privileges, put `setpriv` in front of argv.
class Process {
 public:
  explicit Process(const std::vector<std::string>& argv, const ProcessOptions& options = {});
  Process(const Namespace& where, const std::vector<std::string>& argv, const ProcessOptions& options = {});
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();

  pid_t pid() const { return pid_; }
  bool running() const;

  // Blocks until `text` was written so many times. False when the time is over or the program ended without
  // it.
  bool wait_for_output(std::string_view text, std::chrono::nanoseconds timeout, int times = 1) const;
  std::string output() const;

  void signal(int number) const;  // nothing when it has ended
  void kill();                    // SIGKILL, and waits for the end

  // The destructor then leaves it running (see may_outlive_us).
  void release() { released_ = true; }

  // Nothing when it still runs after `timeout`.
  std::optional<ExitStatus> wait(std::chrono::nanoseconds timeout);

 private:
  Process(int network_namespace, const std::vector<std::string>& argv, const ProcessOptions& options);
  void reap();

  Handle output_;
  Handle ended_;  // pidfd
  pid_t pid_ = -1;
  std::optional<ExitStatus> status_;
  bool released_ = false;
};

}  // namespace headrace::lab
