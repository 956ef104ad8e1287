// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/counters.hpp"

namespace headrace {

Counters::Snapshot& Counters::Snapshot::operator+=(const Snapshot& other) {
  accepted += other.accepted;
  live += other.live;
  to_server += other.to_server;
  to_client += other.to_client;
  exchanges += other.exchanges;
  timed_exchanges += other.timed_exchanges;
  millirounds += other.millirounds;
  other_port += other.other_port;
  refused_direct += other.refused_direct;
  refused_limit += other.refused_limit;
  shed += other.shed;
  failed_calls += other.failed_calls;
  left_direct += other.left_direct;
  for (std::size_t i = 0; i < closed.size(); ++i) closed[i] += other.closed[i];
  return *this;
}

void Counters::session_ended(const SessionSummary& summary) {
  live_.fetch_sub(1, std::memory_order_relaxed);
  add(to_server_, summary.traffic.to_server);
  add(to_client_, summary.traffic.to_client);
  add(exchanges_, summary.traffic.exchanges);
  if (const auto rounds = rounds_per_exchange(summary)) {
    const auto timed = summary.traffic.timed_exchanges;
    add(timed_exchanges_, timed);
    add(millirounds_, static_cast<std::uint64_t>(*rounds * 1000 * static_cast<double>(timed)));
  }
  if (summary.other_port) add(other_port_);
  add(closed_[static_cast<std::size_t>(summary.reason)]);
}

Counters::Snapshot Counters::snapshot() const {
  const auto get = [](const Count& count) { return count.load(std::memory_order_relaxed); };
  Snapshot out{.accepted = get(accepted_),
               .live = get(live_),
               .to_server = get(to_server_),
               .to_client = get(to_client_),
               .exchanges = get(exchanges_),
               .timed_exchanges = get(timed_exchanges_),
               .millirounds = get(millirounds_),
               .other_port = get(other_port_),
               .refused_direct = get(refused_direct_),
               .refused_limit = get(refused_limit_),
               .shed = get(shed_),
               .failed_calls = get(failed_calls_),
               .left_direct = get(left_direct_)};
  for (std::size_t i = 0; i < out.closed.size(); ++i) out.closed[i] = get(closed_[i]);
  return out;
}

}  // namespace headrace
