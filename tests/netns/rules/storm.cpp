// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/rules/storm.hpp"

#include <chrono>

namespace headrace {

Storm::Storm(const lab::InlineLab& lab, const std::vector<lab::Socket>& listeners, int connections)
    : lab_{lab}, listeners_{listeners}, connections_{connections}, thread_{[this] { blow(); }} {}

Storm::~Storm() {
  if (thread_.joinable()) thread_.join();
}

bool Storm::wait_for(int connections) const {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, std::chrono::seconds{30},
                           [&] { return made_ >= connections || !trouble_.empty(); });
}

std::string Storm::trouble() {
  thread_.join();
  return trouble_;
}

void Storm::blow() {
  for (int i = 0; i < connections_; ++i) {
    const std::string complaint = one(listeners_[static_cast<std::size_t>(i) % listeners_.size()]);
    const std::lock_guard lock{mutex_};
    made_ = i + 1;
    if (!complaint.empty()) trouble_ = "connection " + std::to_string(made_) + ": " + complaint;
    changed_.notify_all();
    if (!complaint.empty()) return;
  }
}

std::string Storm::one(const lab::Socket& listener) const {
  const auto attempt = lab::Socket::try_connect(lab_.client, listener.local());
  if (attempt.end != lab::End::done) return lab::to_text(attempt.end);
  const auto server = listener.try_accept(std::chrono::seconds{10});
  if (!server) return "the server saw nobody";
  if (attempt.socket.send_all("ping") != lab::End::done) return "cut before it spoke";
  const auto heard = server->receive_exactly(4);
  return heard.bytes == "ping" ? "" : std::string{"the server heard nothing: "} + lab::to_text(heard.end);
}

}  // namespace headrace
