// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "policy/policy_table.hpp"

// Listener classes: policies whose client legs agree in everything that is fixed before the SYN-ACK (the
// rows of Phase::handshake), so that they can share a listening port. Pure.
namespace headrace {

struct ListenerClass {
  Profile handshake;  // of this profile only Phase::handshake rows matter
  std::string key;    // those rows as text, "mss=1460 congestion=cubic"; equal keys, equal classes
  std::vector<std::size_t> policies;  // whose connections come to it: indices into the table, ascending
};

struct ListenerClasses {
  std::vector<ListenerClass> classes;                 // in order of first use
  std::vector<std::optional<std::size_t>> of_policy;  // per policy its class; empty for bypass
};

std::string handshake_key(const Profile& profile);
ListenerClasses group_into_classes(const PolicyTable& table);

}  // namespace headrace
