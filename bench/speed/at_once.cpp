// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/at_once.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "bench/lab/handle.hpp"

namespace headrace::lab {
namespace {

using namespace std::chrono_literals;

constexpr double kAll = 1 + 1e-9;  // sums of fractions
constexpr auto kGlance = 50ms;     // an interruption reaches one thread only, so it is said again and again

// What is taken of the machine, and the first failure. For any thread.
class Machine {
 public:
  // Waits for so much of the machine. False when a task failed: then nothing is to begin any more.
  bool take(double share) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ || taken_ + share <= kAll || running_ == 0; });
    if (failure_) return false;
    taken_ += share;
    ++running_;
    return true;
  }

  void give_back(double share, const std::exception_ptr& failure) {
    const std::lock_guard lock(mutex_);
    taken_ -= share;
    --running_;
    if (!failure_) failure_ = failure;
    changed_.notify_all();
  }

  // Until nothing runs; hurries those that do when one has failed.
  std::exception_ptr wait_for_all() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kGlance, [&] { return running_ == 0; })) {
      if (failure_) interrupt();
    }
    return failure_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  double taken_ = 0;
  int running_ = 0;
  std::exception_ptr failure_;
};

std::exception_ptr failure_of(const std::function<void()>& run) {
  try {
    run();
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

// Of those that were said, the last may have reached nobody.
void forget_interruption() {
  try {
    throw_if_interrupted();
  } catch (const Interrupted&) {
  }
}

}  // namespace

void run_at_once(const std::vector<Task>& tasks) {
  Machine machine;
  std::vector<std::thread> threads;
  for (const Task& task : tasks) {
    if (!machine.take(task.share)) break;
    threads.emplace_back([&] { machine.give_back(task.share, failure_of(task.run)); });
  }
  const std::exception_ptr failure = machine.wait_for_all();
  for (std::thread& thread : threads) thread.join();
  if (!failure) return;
  forget_interruption();
  std::rethrow_exception(failure);
}

}  // namespace headrace::lab
