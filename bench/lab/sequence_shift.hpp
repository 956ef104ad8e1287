// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "bench/lab/wire.hpp"

namespace headrace::lab {

// What one direction of a link adds to TCP sequence numbers, so that the hosts behind either end seem to draw
// their initial numbers independently, as real hosts do. All network namespaces of one kernel share the
// secret behind those numbers; without this, conntrack and a split connection see two ends that agree by
// chance (kernel-facts: a lab without it hides a session killer).
struct SequenceShift {
  std::uint32_t sent = 0;          // added to seq
  std::uint32_t acknowledged = 0;  // added to ack and to SACK blocks
};

// Both are needed for one direction: an ICMP error quotes a packet that went the other way, and must quote it
// as its sender sent it.
struct DirectionShift {
  SequenceShift own;
  SequenceShift quoted;
};

// `sender`, `receiver`: the offset of each side's numbers as the other side sees them.
DirectionShift shift_for(std::uint32_t sender, std::uint32_t receiver);

// Patches one IP packet in place, checksums included (computed anew where all bytes are there, since a TUN
// device may hand out partial ones). Leaves alone what is no TCP segment and no ICMP error that quotes one.
void translate(ByteSpan packet, const DirectionShift& shift);

}  // namespace headrace::lab
