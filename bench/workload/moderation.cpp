// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/workload/moderation.hpp"

#include <algorithm>
#include <thread>

namespace headrace::lab {
namespace {

constexpr auto kGlance = std::chrono::microseconds(100);  // 1/400 of the demo's round trip

// How many bytes are in flight once fewer are than `before`. Nobody tells: SIOCOUTQ must be looked at.
std::size_t wait_for_acknowledgement(const Socket& socket, std::size_t before, const Deadline& deadline) {
  std::size_t now = socket.unacknowledged();
  while (now >= before && !deadline.passed()) {
    std::this_thread::sleep_for(kGlance);
    now = socket.unacknowledged();
  }
  return now;
}

}  // namespace

void BurstModeration::on_acknowledged(std::size_t acknowledged, std::size_t in_flight) {
  const std::size_t acks = std::max<std::size_t>(1, acknowledged / (2 * segment_));
  allowed_ = in_flight + acks * kBurst * segment_;
}

End send_moderated(const Socket& socket, std::string_view bytes, std::chrono::nanoseconds timeout) {
  const Deadline deadline(timeout);
  BurstModeration moderation(static_cast<std::size_t>(std::max(1, socket.tcp().send_mss)));
  moderation.start();
  std::size_t in_flight = socket.unacknowledged();
  while (true) {
    const std::size_t burst = std::min(bytes.size(), moderation.may_send(in_flight));
    if (burst > 0) {
      const End end = socket.send_all(bytes.substr(0, burst), deadline.left());
      if (end != End::done) return end;
      bytes.remove_prefix(burst);
      in_flight += burst;
    }
    if (bytes.empty()) return End::done;
    const std::size_t left = wait_for_acknowledgement(socket, in_flight, deadline);
    if (left >= in_flight) return End::timed_out;
    moderation.on_acknowledged(in_flight - left, left);
    in_flight = left;
  }
}

}  // namespace headrace::lab
