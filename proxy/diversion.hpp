// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "deploy/net_apply.hpp"
#include "policy/listener_class.hpp"
#include "proxy/diversion_claim.hpp"
#include "proxy/expected_data.hpp"
#include "proxy/listening.hpp"

namespace headrace {

// The diversion of a running daemon: our own table in the packet filter, from when the listeners are ready
// until the daemon stops. New flows are taken unless somebody has a reason against it; what is live goes on
// under every reason. Main thread only. What fails throws std::runtime_error and is tried again at the next
// change, or by verify().
class DiversionControl {
 public:
  enum class Reason : std::uint8_t {
    operator_bypass,
    overload,
    stopping,
    host,  // its routing rule or route is gone; found out here
  };

  // `accepted` counts what has come to the listeners; `expected` goes by the rules that are in; `taking` is
  // told before the rules bring new flows or stop bringing them.
  DiversionControl(bool ipv6, std::function<std::uint64_t()> accepted, ExpectedConnections& expected,
                   std::function<void(bool)> taking)
      : ipv6_{ipv6}, accepted_{std::move(accepted)}, expected_{expected}, taking_{std::move(taking)} {}
  ~DiversionControl();  // takes it out

  // Claims the right to it at first. Puts it in, or replaces what is there by another configuration, in one
  // transaction.
  void replace(std::shared_ptr<const Configuration> configuration, ListenerClasses classes, ClassPorts ports);
  // Sets or clears a reason against taking new flows. Throws when the packet filter refuses.
  void set(Reason reason, bool holds);
  void remove();
  // Looks whether rules and routing are still there and mends what can be mended, the rules three times;
  // tries again what set() could not do. What it found, for the log; empty when all is well. Runs programs;
  // throws like set().
  std::string verify();

  // Since the rules went in, as their own counters.
  std::uint64_t accepted_since_rules() const { return accepted_() - accepted_before_rules_; }
  bool takes_new_flows() const { return applied_ == Diversion::on; }
  bool holds(Reason reason) const { return (reasons_ & bit(reason)) != 0; }

 private:
  struct Content {
    std::shared_ptr<const Configuration> configuration;
    ListenerClasses classes;
    ClassPorts ports;
  };

  static unsigned bit(Reason reason) { return 1U << static_cast<unsigned>(reason); }
  Diversion wanted() const { return reasons_ == 0 ? Diversion::on : Diversion::sessions; }
  enum class There : std::uint8_t { as_we_left_it, unknown };

  void put(const Content& content, There there);
  void apply(const Content& content, There there);
  std::vector<std::string> missing_on_host(const Settings& settings) const;

  bool ipv6_;
  std::function<std::uint64_t()> accepted_;
  ExpectedConnections& expected_;
  std::function<void(bool)> taking_;
  std::uint64_t accepted_before_rules_ = 0;
  std::optional<DiversionClaim> claim_;
  std::optional<Diversion> applied_;  // what the packet filter has
  AppliedDiversion rules_;            // if any
  unsigned reasons_ = 0;
  int repairs_ = 0;
  Content content_;
};

// The operator's bypass, remembered in a file so that it survives a restart.
class BypassFile {
 public:
  explicit BypassFile(std::string path) : path_{std::move(path)} {}
  bool is_on() const;
  void set(bool on) const;  // throws std::runtime_error

 private:
  std::string path_;
};

}  // namespace headrace
