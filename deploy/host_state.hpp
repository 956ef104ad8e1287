// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "deploy/net_plan.hpp"

// What `net up` changed and must put back: the file that survives a crash. Written whole or not at all
// (a new file, synced, then renamed), 0600, and only believed when nobody but root or we could write it.
namespace headrace {

struct HostState {
  std::string boot;  // of which boot, and of which network namespace: elsewhere it means nothing
  std::string network_namespace;
  std::map<std::string, std::string> originals;  // sysctl -> value before the first `net up`
  // What may be installed: one, and two while `net up` puts another in its place. By them and not by the
  // configuration it is taken out, since that may have been edited in between.
  std::vector<DivertRoute> routes;
};

// The state of here and now, with no originals yet.
HostState state_of_this_host();

// Empty when there is none, or when it is of an earlier boot. Throws std::runtime_error "FILE: reason" when
// it can't be trusted or read, or is of another network namespace.
std::optional<HostState> read_state(const std::string& file);
void write_state(const std::string& file, const HostState& state);
void remove_state(const std::string& file);  // fine when there is none

// Holds off a second `net up` or `net down` on the same file until it is destroyed. Creates the folder.
class StateLock {
 public:
  explicit StateLock(const std::string& file);
  StateLock(const StateLock&) = delete;
  StateLock& operator=(const StateLock&) = delete;
  ~StateLock();

 private:
  int folder_;
};

}  // namespace headrace
