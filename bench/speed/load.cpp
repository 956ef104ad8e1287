// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/load.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "bench/speed/ends.hpp"

namespace headrace::lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPatience = 10s;
constexpr std::size_t kTakenAtOnce = 1024 * 1024;

Socket connect_without_delay(const Namespace& from, const std::string& target) {
  SocketOptions options;
  options.nodelay = true;
  return Socket::connect(from, target, options);
}

[[noreturn]] void broken(const char* what) {
  throw_if_interrupted();
  throw std::system_error(errno, std::system_category(), what);
}

std::uint64_t take_for(const Socket& socket, std::chrono::nanoseconds time) {
  const auto until = Clock::now() + time;
  std::uint64_t sum = 0;
  while (Clock::now() < until) {
    const ssize_t taken = recv(socket.descriptor(), nullptr, kTakenAtOnce, MSG_TRUNC);
    if (taken <= 0) broken("bulk");
    sum += static_cast<std::uint64_t>(taken);
  }
  return sum;
}

// Blocking. The peer may answer in pieces.
void exchange_once(const Socket& socket, std::string& message) {
  if (send(socket.descriptor(), message.data(), message.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(message.size()))
    broken("send");
  for (std::size_t got = 0; got < message.size();) {
    const ssize_t some = recv(socket.descriptor(), message.data() + got, message.size() - got, 0);
    if (some <= 0) broken("recv");
    got += static_cast<std::size_t>(some);
  }
}

}  // namespace

BulkResult take_bulk(const Namespace& from, const std::string& target, const BulkLoad& load,
                     const std::function<void()>& at_edge) {
  const Socket socket = connect_without_delay(from, target);
  make_blocking(socket, kPatience);
  take_for(socket, load.warm_up);
  at_edge();
  const auto start = Clock::now();
  BulkResult result;
  result.bytes = take_for(socket, load.measured);
  result.time = Clock::now() - start;
  at_edge();
  return result;
}

std::vector<std::chrono::nanoseconds> ping_pong(const Namespace& from, const std::string& target,
                                                const PingPong& load) {
  const Socket socket = connect_without_delay(from, target);
  make_blocking(socket, kPatience);
  std::string message = pattern(load.size);
  std::vector<std::chrono::nanoseconds> times(static_cast<std::size_t>(load.count));
  for (int i = 0; i < load.warm_up; ++i) exchange_once(socket, message);
  for (auto& time : times) {
    const auto start = Clock::now();
    exchange_once(socket, message);
    time = Clock::now() - start;
  }
  std::sort(times.begin(), times.end());
  return times;
}

void exchange(const Socket& session) {
  std::string message = pattern(64);
  exchange_once(session, message);
}

std::vector<Socket> open_idle(const Namespace& from, const Targets& targets, int count) {
  std::vector<Socket> open;
  std::string message = pattern(64);
  for (int i = 0; i < count; ++i) {
    open.push_back(connect_without_delay(from, targets[static_cast<std::size_t>(i) % targets.size()]));
    make_blocking(open.back(), kPatience);
    exchange_once(open.back(), message);
  }
  return open;
}

}  // namespace headrace::lab
