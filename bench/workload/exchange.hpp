// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "bench/lab/socket.hpp"

namespace headrace::lab {

// The SQL*Plus pattern: so many bytes out, so many back, again and again on one connection; NODELAY at both
// ends.
struct ExchangeSettings {
  std::size_t request = 21;
  std::size_t response = 9356;
  int count = 20;
  std::chrono::nanoseconds pause{0};       // before each but the first
  std::string congestion;                  // of the client's end
  std::chrono::nanoseconds timeout = 60s;  // for each exchange
};

struct ExchangeReport {
  std::chrono::nanoseconds connect{0};
  std::vector<std::chrono::nanoseconds> times;  // of each exchange, first byte sent to last byte received
};

// One connection of it, from the calling thread's namespace, for whoever decides when and how often. Throws
// std::runtime_error when the connection doesn't carry it.
class ExchangeConnection {
 public:
  ExchangeConnection(const std::string& server, const ExchangeSettings& settings);

  std::chrono::nanoseconds connect_time() const { return connect_time_; }
  std::chrono::nanoseconds exchange() const;  // one; how long it took

 private:
  ExchangeSettings settings_;
  std::string request_;
  std::chrono::nanoseconds connect_time_{0};
  Socket socket_;
};

// From the calling thread's namespace. Throws likewise.
ExchangeReport run_exchanges(const std::string& server, const ExchangeSettings& settings);

enum class Sending { plain, moderated };  // moderated: see bench/workload/moderation.hpp

// Answers one connection until it ends. The client says first how large both messages are.
void serve_exchanges(const Socket& connection, Sending sending);

std::chrono::nanoseconds median(std::vector<std::chrono::nanoseconds> times);  // 0 of none

// Round trips an exchange took: its time without what the bytes take on a link of `rate` bit/s, in units of
// `rtt`.
double round_trips(std::chrono::nanoseconds time, std::size_t response, std::uint64_t rate,
                   std::chrono::nanoseconds rtt);

}  // namespace headrace::lab
