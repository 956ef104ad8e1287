// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

namespace headrace::lab {

// Owns one descriptor, any thread. The lab has its own, because nothing in the lab may depend on the proxy
// that it tests. Never shares, never duplicates.
class Handle {
 public:
  Handle() = default;
  explicit Handle(int fd) noexcept : fd_(fd) {}
  Handle(Handle&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Handle& operator=(Handle&& other) noexcept;
  ~Handle() { reset(); }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept { return std::exchange(fd_, -1); }
  void reset() noexcept;

 private:
  int fd_ = -1;
};

// Throws std::system_error with errno: "doing: strerror".
[[noreturn]] void throw_errno(const std::string& doing);

// Returns `result` when it isn't negative, else throws errno.
int checked(int result, const char* doing);

// A point in time that a blocking call must not outlast.
class Deadline {
 public:
  explicit Deadline(std::chrono::nanoseconds from_now) : at_(std::chrono::steady_clock::now() + from_now) {}

  std::chrono::nanoseconds left() const;  // never negative
  bool passed() const { return left() == std::chrono::nanoseconds::zero(); }
  int poll_timeout() const;  // milliseconds for poll(2), rounded up

 private:
  std::chrono::steady_clock::time_point at_;
};

// For a program that must clean up when it is told to stop: its signal handler calls interrupt(), and the
// wait that the signal broke, or the next one, throws Interrupted, once. Async-signal-safe.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};
void interrupt() noexcept;
void throw_if_interrupted();

// Waits for poll(2) `events` on `fd`. False when the deadline passed first.
bool wait_for(int fd, short events, const Deadline& deadline);

}  // namespace headrace::lab
