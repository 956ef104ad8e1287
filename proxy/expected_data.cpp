// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/expected_data.hpp"

#include <algorithm>
#include <cerrno>
#include <span>
#include <system_error>

#include "deploy/net_plan.hpp"

namespace headrace {
namespace {

bool is_exempt(const std::vector<Exemption>& never, const Endpoint& to) {
  return std::any_of(never.begin(), never.end(), [&](const Exemption& exemption) {
    return (!exemption.to || exemption.to->contains(to.address)) &&
           (!exemption.ports || exemption.ports->contains(to.port));
  });
}

}  // namespace

int ExpectedConnections::add(const ExpectedData& data, Instant now) {
  const std::lock_guard lock{mutex_};
  if (is_exempt(never_, data.to)) return 0;
  const Entry& entry = entries_.insert_or_assign(place_of(data), Entry{data, now + kLife}).first->second;
  size_.store(entries_.size(), std::memory_order_release);
  return put(entry, now);
}

void ExpectedConnections::remove(const ExpectedData& data, Instant now) {
  const std::lock_guard lock{mutex_};
  const auto found = entries_.find(place_of(data));
  if (found != entries_.end() && found->second.data.control == data.control) forget(found, now);
}

std::optional<ExpectedData> ExpectedConnections::take(const Flow& flow, Instant now) {
  if (size_.load(std::memory_order_acquire) == 0) return std::nullopt;
  const std::lock_guard lock{mutex_};
  const Endpoint& to = flow.destination.value;
  const auto found = entries_.find({flow.client.value.address, to.address, to.port});
  if (found == entries_.end()) return std::nullopt;
  std::optional<ExpectedData> data;
  if (now < found->second.until) data = std::move(found->second.data);
  forget(found, now);
  return data;
}

void ExpectedConnections::suspend() {
  const std::lock_guard lock{mutex_};
  chains_.clear();
}

void ExpectedConnections::resume(const InterceptSettings& intercept, const ListenerClasses& classes,
                                 const ClassPorts& ports, Instant now) {
  const std::lock_guard lock{mutex_};
  never_ = intercept.never;
  if (intercept.firewall != Firewall::nft) return;
  try {
    if (!elements_) elements_ = std::make_unique<DiversionElements>();
  } catch (const std::system_error&) {
    return;  // the next change of the rules tries again
  }
  for (std::size_t i = 0; i < classes.classes.size(); ++i)
    chains_.emplace(classes.classes[i].key, class_chain(ports.at(i)));
  for (const auto& [place, entry] : entries_) put(entry, now);
}

int ExpectedConnections::put(const Entry& entry, Instant now) {
  if (!elements_ || entry.until <= now) return 0;
  const auto chain = chains_.find(handshake_key(entry.data.decision->client_leg->settings));
  if (chain == chains_.end()) return 0;
  const auto& [from, to, port] = place_of(entry.data);
  const TimedElement element{std::string{expected_map(to.family())}, element_key(from, to, port),
                             std::chrono::duration_cast<Duration>(entry.until - now), chain->second};
  const int error = elements_->add(std::span{&element, 1});
  if (error != EBUSY) return error;
  elements_->remove(element.set, element.key);  // it led elsewhere
  return elements_->add(std::span{&element, 1});
}

// An element that has gone by itself is not asked for: to be refused takes the kernel milliseconds.
void ExpectedConnections::forget(std::map<Place, Entry>::iterator entry, Instant now) {
  const auto& [from, to, port] = entry->first;
  if (elements_ && !chains_.empty() && now < entry->second.until)
    elements_->remove(std::string{expected_map(to.family())}, element_key(from, to, port));
  entries_.erase(entry);
  size_.store(entries_.size(), std::memory_order_release);
}

}  // namespace headrace
