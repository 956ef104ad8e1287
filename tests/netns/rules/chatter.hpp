// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/netns/rules/traffic.hpp"

namespace headrace {

// A conversation that never pauses: a thread asks and answers until the object goes or an end fails.
class Chatter {
 public:
  explicit Chatter(Conversation conversation);
  ~Chatter();
  Chatter(const Chatter&) = delete;
  Chatter& operator=(const Chatter&) = delete;

  const Conversation& conversation() const { return conversation_; }
  // Twenty more rounds were made.
  bool goes_on() const;

 private:
  void talk();

  Conversation conversation_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  unsigned rounds_ = 0;
  bool failed_ = false;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace headrace
