// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/relay.hpp"

#include <algorithm>

namespace headrace {

bool Relay::run(WorkerResources& resources) {
  const std::uint64_t to_server = to_server_.run(resources);
  if (to_server > 0) to_client_.other_direction_spoke(resources);
  const std::uint64_t to_client = to_client_.run(resources);
  if (to_client > 0) to_server_.other_direction_spoke(resources);
  count(to_server, to_client);
  return to_server + to_client > 0;
}

void Relay::count(std::uint64_t to_server, std::uint64_t to_client) {
  if (to_server > 0 && turn_ != Turn::server) {
    ++traffic_.exchanges;
    turn_ = Turn::server;
  }
  if (to_client > 0) turn_ = Turn::client;
  traffic_.to_server += to_server;
  traffic_.to_client += to_client;
}

Instant Relay::next_deadline() const { return std::min(to_server_.next_deadline(), to_client_.next_deadline()); }

void Relay::tick(Instant now) {
  to_server_.tick(now);
  to_client_.tick(now);
}

void Relay::release(WorkerResources& resources) {
  to_server_.release(resources);
  to_client_.release(resources);
}

}  // namespace headrace
