// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "bench/lab/socket.hpp"
#include "proxy/relay.hpp"
#include "proxy/resources.hpp"

namespace headrace {

using namespace std::chrono_literals;

// A relay between two real TCP connections on loopback, driven as a session drives it: it runs after an edge
// of one of its legs, or when it asked for more, and never else. An edge that it lost is a test that stalls.
// The applications' ends are the lab's sockets; use them from another thread where they would block.
class RelayRig {
 public:
  struct Settings {
    PumpSettings to_server;
    PumpSettings to_client;
    std::size_t memory = 64 * 1024 * 1024;
    std::size_t pipes = 8;      // 0: never by splice
    bool ticks = true;          // deadlines are kept by the clock; else the test ticks the relay
    lab::SocketOptions client;  // the applications' sockets
    lab::SocketOptions server;
  };

  RelayRig() : RelayRig(Settings{}) {}
  explicit RelayRig(const Settings& settings);
  ~RelayRig();
  RelayRig(const RelayRig&) = delete;
  RelayRig& operator=(const RelayRig&) = delete;

  // Drives the relay until `done`; false when that takes longer than `limit`.
  bool run_until(const std::function<bool()>& done, std::chrono::nanoseconds limit = 20s);
  // Drives it until no leg has had anything to say for a moment.
  void settle();
  // Closes both legs as a session that ends does: a reset, or an end in order after close_in_order().
  void close_legs();

  // Bytes through the relay, one way, complete and in order; empty when they did not arrive.
  std::string carry_to_server(const std::string& bytes);
  std::string carry_to_client(const std::string& bytes);

  std::size_t runs() const { return runs_; }  // of the relay, so far

 private:
  struct Connections;

  explicit RelayRig(const Settings& settings, Connections connections);
  void turn(std::chrono::milliseconds longest);
  void watch(const Leg& leg, unsigned tag);

  Settings settings_;
  MemoryBudget budget_;
  std::size_t runs_ = 0;
  bool closed_ = false;
  Fd epoll_;

 public:
  lab::Socket client;  // the application that connected
  lab::Socket server;  // the application that was connected to
  Leg client_leg;
  Leg server_leg;
  WorkerResources resources;
  Relay relay;

  std::size_t held_bytes() const { return budget_.used(); }
};

}  // namespace headrace
