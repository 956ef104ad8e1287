// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/lab/handle.hpp"
#include "bench/lab/namespace.hpp"
#include "bench/lab/packet.hpp"

namespace headrace::lab {

// Everything an interface sends and receives, from construction on, as parsed packets. A thread of its own
// reads an AF_PACKET socket; the methods are for any thread. With segmentation offload a "packet" may be 64
// KB: make the veth without offload, or capture on an emulated link, where sizes matter.
class Capture {
 public:
  using Predicate = std::function<bool(const Packet&)>;

  Capture(const Namespace& where, const std::string& device);
  Capture(Capture&&) = delete;
  ~Capture();

  // The first packet, seen already or still to come, that `wanted` accepts. Nothing when the time is over.
  std::optional<Packet> wait_for(const Predicate& wanted, std::chrono::nanoseconds timeout) const;

  // Waits until so many were seen that `wanted` accepts; false when the time is over.
  bool wait_for_count(std::size_t count, const Predicate& wanted, std::chrono::nanoseconds timeout) const;

  std::vector<Packet> packets() const;                         // seen so far
  std::vector<Packet> packets(const Predicate& wanted) const;  // of these, the wanted
  std::size_t missed() const;                                  // lost by the kernel for want of room

 private:
  void read_until_stopped();
  bool read_one();

  std::string device_;
  Handle socket_;
  Handle stop_;
  mutable std::mutex mutex_;
  mutable std::condition_variable grown_;
  std::vector<Packet> packets_;
  std::thread reader_;
};

}  // namespace headrace::lab
