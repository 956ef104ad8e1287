// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/handle.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

namespace headrace::lab {

Handle& Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

void Handle::reset() noexcept {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

void throw_errno(const std::string& doing) { throw std::system_error(errno, std::generic_category(), doing); }

int checked(int result, const char* doing) {
  if (result < 0) throw_errno(doing);
  return result;
}

std::chrono::nanoseconds Deadline::left() const {
  return std::max(std::chrono::nanoseconds::zero(),
                  std::chrono::nanoseconds(at_ - std::chrono::steady_clock::now()));
}

int Deadline::poll_timeout() const {
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left()).count());
}

namespace {
std::atomic<bool> interruption{false};
static_assert(std::atomic<bool>::is_always_lock_free);
}  // namespace

void interrupt() noexcept { interruption = true; }

void throw_if_interrupted() {
  if (interruption.exchange(false)) throw Interrupted();
}

bool wait_for(int fd, short events, const Deadline& deadline) {
  while (true) {
    throw_if_interrupted();
    pollfd watched{fd, events, 0};
    const int ready = poll(&watched, 1, deadline.poll_timeout());
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) throw_errno("poll");
    if (ready == 0 && deadline.passed()) return false;
  }
}

}  // namespace headrace::lab
