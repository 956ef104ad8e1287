// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "bench/lab/socket.hpp"
#include "bench/speed/timeline.hpp"

// One large transfer over a slow link: its server as a thread of this process, its client in the calling
// thread. Both look up four times a second whether the program shall stop.
namespace headrace::lab {

enum class Direction { upload, download };

// How the server's program treats its connections.
struct ServerManners {
  SocketOptions socket;           // before listen
  std::size_t lump = 256 * 1024;  // bytes of a read and of a write
  bool reads_late = false;        // waits with each read until its receive window has closed
};

// Takes or gives what a client asks for, one connection after the other. Ends with the object.
class TransferServer {
 public:
  TransferServer(const Namespace& where, int port, const ServerManners& manners);
  TransferServer(TransferServer&&) = delete;
  ~TransferServer();

  // Of the last upload that was taken whole; since `start`.
  Timeline taken(std::chrono::steady_clock::time_point start) const;

 private:
  struct Taken {
    std::chrono::steady_clock::time_point at;
    std::uint64_t bytes = 0;
  };

  void serve();
  void serve_one(const Socket& connection);
  void take(const Socket& connection, std::uint64_t size);
  void give(const Socket& connection, std::uint64_t size);

  ServerManners manners_;
  Socket listener_;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::vector<Taken> taken_;
  std::thread thread_;
};

// When each byte reached the program it was for: the client's own on a download, the server's on an upload.
// Since established. Throws std::runtime_error when not all of it did.
Timeline transfer(const Namespace& client, const std::string& target, const TransferServer& server,
                  Direction direction, std::uint64_t size);

}  // namespace headrace::lab
