// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>

#include "config/settings.hpp"
#include "policy/address.hpp"

namespace headrace {

// Who may have one more session: limits.sessions and limits.sessions_per_client, over all workers. The one
// thing workers share and change, once a session and never a byte; hence a mutex and not cleverness.
//
// Under `overload = "bypass"` the soft limit only raises the alarm: the packet filter then stops bringing
// new flows, and those already in the accept queue are served, up to the hard limit. Under "refuse" the
// soft limit is the hard one.
class Admission {
 public:
  enum class Verdict : std::uint8_t { admitted, too_many, too_many_of_this_client };

  struct Limits {
    std::size_t sessions = 0;       // soft
    std::size_t hard_sessions = 0;  // what descriptors allow
    std::size_t per_client = 0;
    Overload overload = Overload::bypass;
  };

  // `changed` is called from any worker's thread when the overload begins or ends.
  Admission(Limits limits, std::function<void()> changed);

  Verdict admit(const IpAddress& client);
  void leave(const IpAddress& client);
  void apply(Limits limits);

  // Begins at `sessions`, ends below nine tenths of it, so that it does not flap.
  bool is_overloaded() const;
  std::size_t live() const;

 private:
  bool update_overload();

  mutable std::mutex mutex_;
  Limits limits_;
  std::function<void()> changed_;
  std::unordered_map<IpAddress, std::size_t> clients_;
  std::size_t live_ = 0;
  bool overloaded_ = false;
};

// The limits a process with this many descriptors can keep. A session has two sockets; a tenth of the
// descriptors is left for pipes, and some for listeners, the log and the like.
Admission::Limits admission_limits(const LimitSettings& settings, std::size_t descriptors);

}  // namespace headrace
