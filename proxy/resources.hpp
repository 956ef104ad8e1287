// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proxy/fd.hpp"
#include "proxy/loop.hpp"

// What pumps borrow while they run: the worker's scratch buffer, pipes for splice, and the budget for
// bytes held back. One WorkerResources a worker, on its thread; the MemoryBudget is shared by all.
namespace headrace {

// One read takes at most this. Larger reads gain nothing (L2 stays warm), smaller ones cost calls.
constexpr std::size_t kReadSize = 64 * 1024;
// Above the memory ceiling a read takes at most this, so that every session still moves.
constexpr std::size_t kFrugalReadSize = 4 * 1024;
// A pipe as asked for. Past fs.pipe-user-pages-soft the kernel gives less to who has not CAP_SYS_RESOURCE; of
// less than one read it is not worth its calls (then it is 8 KiB).
constexpr std::size_t kPipeSize = 256 * 1024;

// Bytes that wait inside headrace, over all sessions (limits.memory). Relaxed: a few reads may overshoot.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::size_t ceiling) : ceiling_{ceiling} {}
  void take(std::size_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void give(std::size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  bool exhausted() const { return used() >= ceiling(); }
  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  std::size_t ceiling() const { return ceiling_.load(std::memory_order_relaxed); }
  void set_ceiling(std::size_t ceiling) { ceiling_.store(ceiling, std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> used_{0};
  std::atomic<std::size_t> ceiling_;
};

struct Pipe {
  Fd read_end;
  Fd write_end;
};

class WorkerResources {
 public:
  WorkerResources(MemoryBudget& budget, std::size_t most_pipes) : budget_{budget}, most_pipes_{most_pipes} {}

  std::span<std::byte> scratch() {
    return std::span{scratch_}.first(budget_.exhausted() ? kFrugalReadSize : kReadSize);
  }
  MemoryBudget& budget() { return budget_; }

  // Empty when there is no descriptor, no budget or no pages for one: the caller goes on copying.
  std::optional<Pipe> take_pipe();
  void return_pipe(Pipe pipe);  // must be empty of bytes
  void lost_pipe();             // one with bytes inside went with its session

  Instant now;  // of the current turn

 private:
  MemoryBudget& budget_;
  std::size_t most_pipes_;
  std::size_t pipes_out_ = 0;
  std::vector<Pipe> idle_pipes_;
  Instant no_pipe_before_{};  // after one could not be had
  std::array<std::byte, kReadSize> scratch_;
};

}  // namespace headrace
