// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "proxy/loop.hpp"

namespace headrace {

// Messages to the thread of a loop, run there in the order in which they were posted. post() is for any
// thread; the rest is the loop's.
class Mailbox {
 public:
  explicit Mailbox(Loop& loop) : wakeup_{loop, [this] { run(); }} {}

  void post(std::function<void()> message) {
    {
      const std::lock_guard lock{mutex_};
      messages_.push_back(std::move(message));
    }
    wakeup_.wake();
  }

 private:
  void run() {
    std::vector<std::function<void()>> messages;
    {
      const std::lock_guard lock{mutex_};
      messages.swap(messages_);
    }
    for (const auto& message : messages) message();
  }

  std::mutex mutex_;
  std::vector<std::function<void()>> messages_;
  Wakeup wakeup_;
};

}  // namespace headrace
