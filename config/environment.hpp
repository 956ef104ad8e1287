// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "policy/leg_setting.hpp"
#include "policy/units.hpp"

// What a configuration is checked against: the kernel it will run on. A value, so that tests choose it.
namespace headrace {

struct Environment {
  KernelVersion kernel;
  std::vector<std::string> congestion_controls;  // loaded ones; empty: not known, nothing is checked
  std::string default_congestion;                // empty: not known
  std::optional<Bytes> receive_limit;            // net.core.rmem_max
  std::optional<Bytes> send_limit;               // net.core.wmem_max
  std::string no_leg_storage;  // why settings kept there (BPF) can't be had; empty: they can
  // Why SYNs can't be held here for accept = "verified", and empty: they can. Asked only where a policy wants
  // it, since the answer takes programs to run. None: not known, nothing is checked.
  std::function<std::string(Firewall)> no_syn_queue;
  std::optional<bool> timestamps;             // net.ipv4.tcp_timestamps
  std::optional<bool> sack;                   // net.ipv4.tcp_sack
  std::optional<bool> slow_start_after_idle;  // net.ipv4.tcp_slow_start_after_idle
};

// uname(2) and /proc/sys of this network namespace. What cannot be read stays unknown.
Environment this_environment();

}  // namespace headrace
