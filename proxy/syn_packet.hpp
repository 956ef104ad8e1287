// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "policy/flow.hpp"
#include "proxy/syn_facts.hpp"

namespace headrace {

// A SYN as it came to this host: whose it is, and what it says.
struct SynPacket {
  Flow flow;
  std::uint32_t sequence = 0;  // another one is another attempt
  SynFacts facts;
  bool operator==(const SynPacket&) const = default;
};

// From the IP header on (RFC 791, 8200, 9293), perhaps without the packet's end. Pure; nothing for what is
// not the beginning of a bare SYN, or hides it behind extension headers of IPv6.
std::optional<SynPacket> read_syn_packet(std::span<const std::uint8_t> packet);

}  // namespace headrace
