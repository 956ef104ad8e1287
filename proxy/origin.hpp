// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace headrace {

// How connections come to a listener, which says where they were going.
enum class Origin : std::uint8_t {
  tproxy,    // the socket's own address is the original destination
  redirect,  // conntrack knows it (SO_ORIGINAL_DST)
  forward,   // always the same: ListenerPlan::forward_to
};

}  // namespace headrace
