// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace headrace {

// What became of the SYNs of policies with accept = "verified". One row feeds the counters, the status and
// the log.
enum class SynOutcome : std::uint8_t {
  answered,     // taken, with a server leg
  refused,      // sent on: the server reset the attempt
  unreachable,  // sent on: an ICMP error, or no route
  timed_out,    // sent on: the server said nothing for timeouts.connect or as long as the kernel tries
  failed,       // sent on: any other error
  client_gone,  // dropped: the client did not send it again in time, or began anew
  over_limit,   // taken early: limits.held_syns, limits.held_syns_per_client
  early,        // taken early: no policy of now holds it, it could not be read, no descriptor
  not_taking,   // sent on: bypass, drain, overload
  unclaimed,    // of `answered`: nobody was accepted for the leg
};
inline constexpr std::array<std::string_view, 10> kSynOutcomes{
    "answered",    "refused",    "unreachable", "timed_out",  "failed",
    "client_gone", "over_limit", "early",       "not_taking", "unclaimed"};
using OutcomeCounts = std::array<std::uint64_t, kSynOutcomes.size()>;

}  // namespace headrace
