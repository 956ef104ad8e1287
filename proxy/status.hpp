// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "proxy/counters.hpp"
#include "proxy/listening.hpp"
#include "proxy/syn_outcome.hpp"

// The daemon's answers on the control socket, as JSON (docs/control-socket.md). Pure.
namespace headrace {

struct Status {
  int pid = 0;
  Counters::Snapshot counters;
  std::uint64_t accepted_since_rules = 0;  // what came to a listener since the rules went in, refused or not
  std::size_t failed_servers = 0;          // of which clients: connections to them are left to the kernel now
  std::uint64_t syns_to_failed = 0;        // that were, since the rules went in
  OutcomeCounts syns{};                    // of policies with accept = "verified"
  std::size_t held_syns = 0;               // now
  std::size_t waiting_legs = 0;
  std::size_t live = 0;
  std::size_t held_bytes = 0;
  std::size_t policies = 0;
  PortsByKey ports_by_key;
  bool intercepting = false;
  bool takes_new_flows = false;
  bool bypass = false;
  bool overload = false;
  bool draining = false;
};

std::string render_status(const Status& status);
// What `headrace doctor` reads of it; a daemon of an older version leaves out what it does not know.
struct DaemonFacts {
  bool takes_new_flows = false;
  std::optional<std::uint64_t> accepted_since_rules;
};
DaemonFacts read_status(const std::string& answer);  // throws std::runtime_error
std::string render_reloaded(const std::vector<Problem>& warnings);
std::string render_done();

}  // namespace headrace
