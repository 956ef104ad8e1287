// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "proxy/counters.hpp"
#include "proxy/listening.hpp"

// The daemon's answers on the control socket, as JSON (docs/control-socket.md). Pure.
namespace headrace {

struct Status {
  Counters::Snapshot counters;
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
std::string render_reloaded(const std::vector<Problem>& warnings);
std::string render_done();

}  // namespace headrace
