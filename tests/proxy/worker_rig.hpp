// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "bench/lab/socket.hpp"
#include "proxy/worker.hpp"

namespace headrace {

using namespace std::chrono_literals;

// A worker with one listener on loopback that forwards to a listener of the test's own.
class WorkerRig {
 public:
  struct Settings {
    TimeoutSettings timeouts;
    Admission::Limits limits{10'000, 10'000, 10'000, Overload::refuse};
    Profile client_leg;
    Profile server_leg;
    Origin origin = Origin::forward;
    std::optional<Endpoint> forward_to;  // instead of the test's listener
    std::chrono::nanoseconds busy_poll{0};
    bool ftp = false;  // its control channel is followed
  };

  WorkerRig() : WorkerRig(Settings{}) {}
  explicit WorkerRig(const Settings& settings);
  ~WorkerRig();

  struct Session {
    lab::Socket client;
    lab::Socket server;
  };
  Session open_session() const;
  lab::Socket connect() const { return lab::Socket::connect(print(at)); }
  // How a connection ends that gets nothing to read. A reset may come before connect() has returned.
  lab::End end_of_connection() const;

  Counters::Snapshot counters() const { return worker.snapshot(); }
  // Waits until that many sessions have ended for this reason.
  bool has_closed(CloseReason reason, std::uint64_t times = 1) const;
  // Waits until that many sessions are live.
  bool has_live(std::uint64_t sessions) const;

  lab::Socket listener;  // the server application
  Endpoint at;           // where the worker listens
  Log log;
  Admission admission;
  PreparedLegs prepared{admission};
  MemoryBudget budget{64 * 1024 * 1024};
  ExpectedConnections expected;
  Worker worker;
};

// "pong" to "ping".
bool exchange(const WorkerRig::Session& session);

// A listener that answers no handshake any more: its queue is full.
class DeafListener {
 public:
  DeafListener();
  Endpoint at() const;

 private:
  lab::Socket listener_;
  std::vector<lab::Socket> queue_;
};

}  // namespace headrace
