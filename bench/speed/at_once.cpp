// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/at_once.hpp"

#include <sys/resource.h>

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
  explicit Machine(const std::function<bool()>& is_over) : is_over_(is_over) {}

  // Waits for so much of the machine. False when a task failed or all is over: nothing is to begin any more.
  bool take(double share) {
    std::unique_lock lock(mutex_);
    const auto has_room = [&] { return taken_ + share <= kAll || running_ == 0; };
    while (!ends() && !changed_.wait_for(lock, kGlance, has_room)) {
    }
    if (ends()) return false;
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

  // Until nothing runs; hurries those that do when one has failed or all is over.
  std::exception_ptr wait_for_all() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kGlance, [&] { return running_ == 0; })) {
      if (ends()) interrupt();
    }
    if (!failure_ && is_over_()) failure_ = std::make_exception_ptr(Interrupted());
    return failure_;
  }

 private:
  bool ends() const { return failure_ || is_over_(); }

  const std::function<bool()>& is_over_;
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

// Of the calling thread, and so of the programs that it starts: who waits for a link or a timer must run when
// it is time, whatever else the machine does. At a load of 10, four requests in 1,000 were 30 ms late without
// it, whoever carried them, and none with it. Best effort.
void be_punctual() { setpriority(PRIO_PROCESS, 0, -15); }

// Of those that were said, the last may have reached nobody.
void forget_interruption() {
  try {
    throw_if_interrupted();
  } catch (const Interrupted&) {
  }
}

}  // namespace

void run_at_once(const std::vector<Task>& tasks, const std::function<bool()>& is_over) {
  Machine machine(is_over);
  std::vector<std::thread> threads;
  for (const Task& task : tasks) {
    if (!machine.take(task.share)) break;
    threads.emplace_back([&] {
      be_punctual();
      machine.give_back(task.share, failure_of(task.run));
    });
  }
  const std::exception_ptr failure = machine.wait_for_all();
  for (std::thread& thread : threads) thread.join();
  if (!failure) return;
  forget_interruption();
  std::rethrow_exception(failure);
}

}  // namespace headrace::lab
