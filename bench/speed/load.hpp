// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "bench/lab/socket.hpp"

// The clients of the speed rows. Each runs in the calling thread, bounded in count and time, and throws
// std::runtime_error when a connection doesn't carry what it should.
namespace headrace::lab {

using Targets = std::vector<std::string>;

struct BulkLoad {
  std::chrono::nanoseconds warm_up = 300ms;
  std::chrono::nanoseconds measured = 1s;
};
struct BulkResult {
  std::uint64_t bytes = 0;
  std::chrono::nanoseconds time{0};
};
// Reads what a BulkServer sends. The bytes are dropped inside the kernel (MSG_TRUNC), so that this end costs
// as little as it can. `at_edge` is called when measuring begins and when it ends.
BulkResult take_bulk(const Namespace& from, const std::string& target, const BulkLoad& load,
                     const std::function<void()>& at_edge);

// One message out, the same back, again and again on one connection; NODELAY. The times are sorted.
struct PingPong {
  int count = 20'000;
  int warm_up = 500;
  std::size_t size = 64;
};
std::vector<std::chrono::nanoseconds> ping_pong(const Namespace& from, const std::string& target,
                                                const PingPong& load);

// Connect, one exchange of 64 bytes, close: `count` times over the targets in turn, `parallel` at a time.
// Returns how long all of them took.
struct Churn {
  int count = 8'000;
  int parallel = 32;
};
std::chrono::nanoseconds churn(const Namespace& from, const Targets& targets, const Churn& load);

// 64 bytes out and back on a connection of open_idle().
void exchange(const Socket& session);

// Open connections that have had one exchange each and then stay silent.
std::vector<Socket> open_idle(const Namespace& from, const Targets& targets, int count);

}  // namespace headrace::lab
