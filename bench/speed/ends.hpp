// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <optional>
#include <thread>

#include "bench/lab/socket.hpp"

// The servers of the speed rows, as threads of this process: cheap enough that the proxy stays what is
// measured. They end with their objects.
namespace headrace::lab {

// Sends back what it gets, on any number of connections, from one thread. NODELAY.
class EchoServer {
 public:
  // In the server's namespace, on every address; on `cpu` alone when given.
  EchoServer(const Namespace& where, int port, std::optional<int> cpu);
  EchoServer(EchoServer&&) = delete;
  ~EchoServer();

 private:
  void serve();

  Socket listener_;
  Handle epoll_;
  Handle stop_;  // eventfd
  std::thread thread_;
};

// Sends to whoever connects, one after the other, until they go.
class BulkServer {
 public:
  BulkServer(const Namespace& where, int port);
  BulkServer(BulkServer&&) = delete;
  ~BulkServer();

 private:
  void serve();

  Socket listener_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

// For ends that block: with O_NONBLOCK each message would cost a call more. Reads and writes give up after
// `patience`.
void make_blocking(const Socket& socket, std::chrono::seconds patience);

}  // namespace headrace::lab
