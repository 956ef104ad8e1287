// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/workload/small_messages.hpp"

#include <algorithm>
#include <thread>

#include "bench/workload/serve.hpp"

namespace headrace::lab {
namespace {

using Clock = std::chrono::steady_clock;
using Waits = std::vector<std::chrono::nanoseconds>;

constexpr auto kServerPatience = std::chrono::hours(1);

// A program that writes a header and what follows it with two calls.
void send_in_two_parts(const Socket& socket, std::string_view message, std::chrono::nanoseconds timeout) {
  const std::size_t half = message.size() / 2;
  send_or_throw(socket, message.substr(0, half), timeout);
  send_or_throw(socket, message.substr(half), timeout);
}

bool is_written_in_parts(const SmallMessageSettings& settings, int round) {
  return settings.in_two_parts > 0 && (round + 1) % settings.in_two_parts == 0;
}

Waits run_round(const Socket& socket, const SmallMessageSettings& settings, const std::string& message,
                int round) {
  for (int n = 1; n < settings.messages; ++n) send_or_throw(socket, message, settings.timeout);
  if (is_written_in_parts(settings, round))
    send_in_two_parts(socket, message, settings.timeout);
  else
    send_or_throw(socket, message, settings.timeout);
  Waits waits;
  for (int n = 0; n < settings.messages; ++n) {
    const auto start = Clock::now();
    receive_or_throw(socket, settings.size, settings.timeout);
    waits.push_back(Clock::now() - start);
  }
  return waits;
}

}  // namespace

SmallMessageReport run_small_messages(const std::string& server, const SmallMessageSettings& settings) {
  const Socket socket = Socket::connect(server);
  send_or_throw(socket, as_bytes(settings.size), settings.timeout);
  receive_or_throw(socket, 1, settings.timeout);
  SmallMessageReport report;
  const std::string message = pattern(settings.size);
  for (int round = 0; round < settings.rounds; ++round) {
    if (round > 0) std::this_thread::sleep_for(settings.pause);
    report.waits.push_back(run_round(socket, settings, message, round));
    const auto worst = *std::max_element(report.waits.back().begin(), report.waits.back().end());
    if (worst >= settings.stall) ++report.stalled_rounds;
    report.worst = std::max(report.worst, worst);
  }
  return report;
}

void serve_small_messages(const Socket& connection) {
  const std::size_t size = as_number(receive_or_throw(connection, 8, kServerPatience));
  send_or_throw(connection, "!", kServerPatience);
  while (true) {
    const Received message = connection.receive_exactly(size, kServerPatience);
    if (message.end != End::done || connection.send_all(message.bytes, kServerPatience) != End::done) return;
  }
}

}  // namespace headrace::lab
