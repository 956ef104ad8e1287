// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "bench/lab/socket.hpp"

namespace headrace::lab {

// Story 2: small messages written back to back without NODELAY, each echoed without NODELAY, and so on after
// a pause. Where a small segment waits for an ACK that the other end delays, a read takes about 40 ms.
struct SmallMessageSettings {
  std::size_t size = 132;
  int messages = 10;  // a round
  int rounds = 10;
  int in_two_parts = 0;                    // the last message of each so many rounds is written in two parts
  std::chrono::nanoseconds pause = 100ms;  // between rounds
  std::chrono::nanoseconds stall = 30ms;   // a read that waits as long counts as stalled
  std::chrono::nanoseconds timeout = 60s;
};

struct SmallMessageReport {
  std::vector<std::vector<std::chrono::nanoseconds>> waits;  // of each read, by round
  int stalled_rounds = 0;                                    // with at least one stalled read
  std::chrono::nanoseconds worst{0};
};

// From the calling thread's namespace. Throws std::runtime_error when the connection doesn't carry it.
SmallMessageReport run_small_messages(const std::string& server, const SmallMessageSettings& settings);

// Echoes one connection, message by message, until it ends. The client says first how large they are.
void serve_small_messages(const Socket& connection);

}  // namespace headrace::lab
