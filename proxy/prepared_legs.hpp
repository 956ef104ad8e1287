// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "policy/flow.hpp"
#include "policy/policy_table.hpp"
#include "proxy/admission.hpp"
#include "proxy/loop.hpp"
#include "proxy/socket.hpp"

namespace headrace {

// Server legs that were opened for SYNs (proxy/verifier) and wait for whichever worker accepts the client.
// Shared by all threads: a mutex, once a session, and not even that while nothing waits. A leg keeps its
// place in `room` until it is taken or nobody came for it.
class PreparedLegs {
 public:
  struct Prepared {
    ServerLeg leg;  // connected
    std::shared_ptr<const Decision> decision;
  };

  explicit PreparedLegs(Admission& room) : room_{room} {}

  // `until` never decreases from call to call.
  void put(const Flow& flow, std::uint32_t sequence, Prepared prepared, Instant until);
  std::optional<Prepared> take(const Flow& flow);
  // Whether this SYN's server has answered already: its leg waits, or was taken a moment ago.
  bool knows(const Flow& flow, std::uint32_t sequence) const;
  // Resets the legs that nobody came for; how many. Forgets those that were taken.
  std::size_t expire(Instant now);
  std::size_t waiting() const { return waiting_.load(std::memory_order_acquire); }
  bool empty() const;

 private:
  struct Entry {
    std::uint32_t sequence = 0;
    Instant until;
    std::optional<Prepared> prepared;  // nothing: taken
  };

  Admission& room_;
  mutable std::mutex mutex_;
  std::map<Flow, Entry> entries_;
  std::deque<std::pair<Instant, Flow>> order_;  // of expiry
  std::atomic<std::size_t> waiting_{0};
};

}  // namespace headrace
