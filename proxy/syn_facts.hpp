// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>

#include "policy/profile.hpp"

namespace headrace {

// What a SYN says that the other leg may want to say as well. Zeros where it says nothing.
struct SynFacts {
  Dscp dscp;
  std::uint16_t mss = 0;  // as announced, TCP options included
  bool operator==(const SynFacts&) const = default;
};

// From the IP and TCP headers as they came (RFC 791, 8200, 9293). Pure; anything that is not such headers is
// a SYN that says nothing.
SynFacts read_syn(std::span<const std::uint8_t> headers);

}  // namespace headrace
