// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "proxy/close_reason.hpp"
#include "proxy/session_summary.hpp"

namespace headrace {

// What one worker has seen. Written by its worker alone, read from any thread as a relaxed snapshot.
class Counters {
 public:
  struct Snapshot {
    std::uint64_t accepted = 0;
    std::uint64_t live = 0;
    std::uint64_t to_server = 0;  // bytes of ended sessions
    std::uint64_t to_client = 0;
    std::uint64_t exchanges = 0;
    std::uint64_t timed_exchanges = 0;  // over sessions whose rounds mean something
    std::uint64_t millirounds = 0;      // their sum of round trips, in thousandths
    std::uint64_t other_port = 0;       // sessions whose tuple clashed
    std::uint64_t refused_direct = 0;   // connections made straight to a listener, or to this host itself
    std::uint64_t refused_limit = 0;    // over a limit, reset
    std::uint64_t shed = 0;             // no descriptor for them
    std::uint64_t failed_calls = 0;     // settings a socket would not take
    std::uint64_t left_direct = 0;      // flows left to the kernel because their server was not reached
    std::array<std::uint64_t, kCloseReasons.size()> closed{};

    Snapshot& operator+=(const Snapshot& other);
  };

  void session_began() {
    add(accepted_);
    live_.fetch_add(1, std::memory_order_relaxed);
  }
  void session_ended(const SessionSummary& summary);
  void direct_refused() { add(refused_direct_); }
  void limit_refused() { add(refused_limit_); }
  void connection_shed() { add(shed_); }
  void call_failed() { add(failed_calls_); }
  void left_direct(std::uint64_t flows) { add(left_direct_, flows); }
  Snapshot snapshot() const;

 private:
  using Count = std::atomic<std::uint64_t>;
  static void add(Count& count, std::uint64_t amount = 1) {
    count.fetch_add(amount, std::memory_order_relaxed);
  }

  Count accepted_{0}, live_{0}, to_server_{0}, to_client_{0}, exchanges_{0}, other_port_{0};
  Count timed_exchanges_{0}, millirounds_{0};
  Count refused_direct_{0}, refused_limit_{0}, shed_{0}, failed_calls_{0}, left_direct_{0};
  std::array<Count, kCloseReasons.size()> closed_{};
};

}  // namespace headrace
