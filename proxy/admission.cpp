// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/admission.hpp"

#include <algorithm>

namespace headrace {
namespace {

constexpr std::size_t kOwnDescriptors = 256;  // listeners, loops, log, admin

std::size_t hard_limit(std::size_t descriptors) {
  const std::size_t others = kOwnDescriptors + descriptors / 10;
  const std::size_t usable = descriptors - std::min(descriptors, others);
  return std::max<std::size_t>(usable / 2, 1);
}

}  // namespace

Admission::Limits admission_limits(const LimitSettings& settings, std::size_t descriptors) {
  Admission::Limits limits;
  limits.overload = settings.overload;
  limits.hard_sessions = hard_limit(descriptors);
  const std::size_t automatic = limits.hard_sessions - limits.hard_sessions / 20;
  limits.sessions = std::min(settings.sessions.value_or(automatic), limits.hard_sessions);
  const auto& per_client = settings.sessions_per_client;
  const auto share = static_cast<std::size_t>(per_client.share * static_cast<double>(limits.sessions));
  limits.per_client = std::max<std::size_t>(per_client.is_share ? share : per_client.count, 1);
  // Who may have all is bounded by what bounds all: under "bypass" that is the hard limit.
  if (per_client.is_share && per_client.share >= 1) limits.per_client = limits.hard_sessions;
  return limits;
}

Admission::Admission(Limits limits, std::function<void()> changed)
    : limits_{limits}, changed_{std::move(changed)} {}

Admission::Verdict Admission::admit(const IpAddress& client) {
  bool alarm = false;
  {
    const std::lock_guard lock{mutex_};
    const std::size_t most = limits_.overload == Overload::refuse ? limits_.sessions : limits_.hard_sessions;
    if (live_ >= most) return Verdict::too_many;
    std::size_t& of_client = clients_[client];
    if (of_client >= limits_.per_client) return Verdict::too_many_of_this_client;
    ++of_client;
    ++live_;
    alarm = update_overload();
  }
  if (alarm && changed_) changed_();
  return Verdict::admitted;
}

void Admission::leave(const IpAddress& client) {
  bool alarm = false;
  {
    const std::lock_guard lock{mutex_};
    const auto found = clients_.find(client);
    if (found != clients_.end() && --found->second == 0) clients_.erase(found);
    --live_;
    alarm = update_overload();
  }
  if (alarm && changed_) changed_();
}

void Admission::apply(Limits limits) {
  const std::lock_guard lock{mutex_};
  limits_ = limits;
  update_overload();
}

bool Admission::update_overload() {
  const bool was = overloaded_;
  if (live_ >= limits_.sessions) overloaded_ = true;
  if (live_ < limits_.sessions - limits_.sessions / 10) overloaded_ = false;
  return was != overloaded_;
}

bool Admission::is_overloaded() const {
  const std::lock_guard lock{mutex_};
  return overloaded_ && limits_.overload == Overload::bypass;
}

std::size_t Admission::live() const {
  const std::lock_guard lock{mutex_};
  return live_;
}

}  // namespace headrace
