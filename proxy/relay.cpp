// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/relay.hpp"

#include <algorithm>

#include "proxy/tcp_info.hpp"

namespace headrace {
namespace {

// More round trips than this between answer and next request is a client that thinks, not a network.
constexpr int kPauseRounds = 8;

}  // namespace

bool Relay::run(WorkerResources& resources) {
  const std::uint64_t to_server = to_server_.run(resources);
  if (to_server > 0) to_client_.other_direction_spoke(resources);
  const std::uint64_t to_client = to_client_.run(resources);
  if (to_client > 0) to_server_.other_direction_spoke(resources);
  count(to_server, to_client, resources.now);
  return to_server + to_client > 0;
}

void Relay::count(std::uint64_t to_server, std::uint64_t to_client, Instant now) {
  if (to_server > 0 && turn_ != Turn::server) {
    if (turn_ == Turn::client) time_answer(now);
    ++traffic_.exchanges;
    turn_ = Turn::server;
  }
  if (to_client > 0 && turn_ != Turn::client) {
    answer_began_ = now;
    turn_ = Turn::client;
  }
  traffic_.to_server += to_server;
  traffic_.to_client += to_client;
}

void Relay::time_answer(Instant now) {
  const auto time = now - answer_began_;
  if (!client_rtt_) client_rtt_ = tcp_info(client_.socket).min_rtt;
  if (time > *client_rtt_ * kPauseRounds) return;
  ++traffic_.timed_exchanges;
  traffic_.answer_time += time;
}

Instant Relay::next_deadline() const {
  return std::min(to_server_.next_deadline(), to_client_.next_deadline());
}

void Relay::tick(Instant now) {
  to_server_.tick(now);
  to_client_.tick(now);
}

void Relay::release(WorkerResources& resources) {
  to_server_.release(resources);
  to_client_.release(resources);
}

}  // namespace headrace
