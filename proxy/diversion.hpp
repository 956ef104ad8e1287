// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/load.hpp"
#include "deploy/net_apply.hpp"
#include "policy/listener_class.hpp"
#include "proxy/diversion_claim.hpp"
#include "proxy/listening.hpp"

namespace headrace {

// The diversion of a running daemon: our own table in the packet filter, from when the listeners are ready
// until the daemon stops. New flows are taken unless somebody has a reason against it; what is live goes on
// under every reason. Main thread only. Throws std::runtime_error from start() and replace(); a later change
// that fails is told to the caller as text and tried again at the next one.
class DiversionControl {
 public:
  enum class Reason : std::uint8_t { operator_bypass, overload, stopping };

  explicit DiversionControl(bool ipv6) : ipv6_{ipv6} {}
  ~DiversionControl();  // takes it out

  // Claims the right to it at first. Puts it in, or replaces what is there by another configuration, in one
  // transaction.
  void replace(std::shared_ptr<const Configuration> configuration, ListenerClasses classes, ClassPorts ports);
  // Sets or clears a reason against taking new flows. Throws when the packet filter refuses.
  void set(Reason reason, bool holds);
  void remove();

  bool takes_new_flows() const { return present_ && reasons_ == 0; }
  bool holds(Reason reason) const { return (reasons_ & bit(reason)) != 0; }

 private:
  static unsigned bit(Reason reason) { return 1U << static_cast<unsigned>(reason); }
  void put();

  bool ipv6_;
  std::optional<DiversionClaim> claim_;
  bool present_ = false;
  unsigned reasons_ = 0;
  std::shared_ptr<const Configuration> configuration_;
  ListenerClasses classes_;
  ClassPorts ports_;
};

// The operator's bypass, remembered in a file so that it survives a restart.
class BypassFile {
 public:
  explicit BypassFile(std::string path) : path_{std::move(path)} {}
  bool is_on() const;
  void set(bool on) const;  // throws std::runtime_error
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace headrace
