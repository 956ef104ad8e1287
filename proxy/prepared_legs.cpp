// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/prepared_legs.hpp"

namespace headrace {

void PreparedLegs::put(const Flow& flow, std::uint32_t sequence, Prepared prepared, Instant until) {
  const std::lock_guard lock{mutex_};
  entries_.insert_or_assign(flow, Entry{sequence, until, std::move(prepared)});
  order_.emplace_back(until, flow);
  waiting_.fetch_add(1, std::memory_order_release);
}

std::optional<PreparedLegs::Prepared> PreparedLegs::take(const Flow& flow) {
  if (waiting() == 0) return std::nullopt;
  std::optional<Prepared> taken;
  {
    const std::lock_guard lock{mutex_};
    const auto found = entries_.find(flow);
    if (found == entries_.end() || !found->second.prepared) return std::nullopt;
    taken = std::move(found->second.prepared);
    found->second.prepared.reset();
    waiting_.fetch_sub(1, std::memory_order_release);
  }
  room_.leave(flow.client.value.address);
  return taken;
}

bool PreparedLegs::knows(const Flow& flow, std::uint32_t sequence) const {
  const std::lock_guard lock{mutex_};
  const auto found = entries_.find(flow);
  return found != entries_.end() && (found->second.prepared || found->second.sequence == sequence);
}

std::size_t PreparedLegs::expire(Instant now) {
  std::size_t unclaimed = 0;
  const std::lock_guard lock{mutex_};
  for (; !order_.empty() && order_.front().first <= now; order_.pop_front()) {
    const auto found = entries_.find(order_.front().second);
    if (found == entries_.end() || found->second.until > now) continue;  // begun anew since
    if (found->second.prepared) {
      ++unclaimed;
      waiting_.fetch_sub(1, std::memory_order_release);
      room_.leave(found->first.client.value.address);
    }
    entries_.erase(found);
  }
  return unclaimed;
}

bool PreparedLegs::empty() const {
  const std::lock_guard lock{mutex_};
  return entries_.empty();
}

}  // namespace headrace
