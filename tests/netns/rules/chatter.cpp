// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/rules/chatter.hpp"

namespace headrace {

Chatter::Chatter(Conversation conversation)
    : conversation_{std::move(conversation)}, thread_{[this] { talk(); }} {}

Chatter::~Chatter() {
  {
    const std::lock_guard lock{mutex_};
    stopped_ = true;
  }
  thread_.join();
}

void Chatter::talk() {
  for (;;) {
    const bool well = speaks(conversation_);
    const std::lock_guard lock{mutex_};
    ++rounds_;
    failed_ = !well;
    changed_.notify_all();
    if (failed_ || stopped_) return;
  }
}

bool Chatter::goes_on() const {
  std::unique_lock lock{mutex_};
  const unsigned wanted = rounds_ + 20;
  changed_.wait_for(lock, std::chrono::seconds{10}, [&] { return failed_ || rounds_ >= wanted; });
  return !failed_ && rounds_ >= wanted;
}

}  // namespace headrace
