// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "bench/lab/socket.hpp"

// One end acts while the other is in some state; what the other's calls return is told in words. Knows no
// headrace: a direct connection is put on the same stage.
namespace headrace {

enum class Act : std::uint8_t {
  finish,             // shutdown(SHUT_WR)
  close,              // with all read
  close_unread,       // with input that it did not read
  reset,              // linger 0
  killed,             // kill -9 of the process that has the socket
  finish_then_reset,  // an end, and a reset right behind it
  urgent_then_close,
  finish_both,  // both ends at the same moment
};
inline constexpr std::array kActs{Act::finish,
                                  Act::close,
                                  Act::close_unread,
                                  Act::reset,
                                  Act::killed,
                                  Act::finish_then_reset,
                                  Act::urgent_then_close,
                                  Act::finish_both};

enum class State : std::uint8_t {
  reading,      // blocked in recv
  idle,         // reads only after the act; its buffers had room
  full,         // reads only after the act; its window was closed
  half_closed,  // has finished writing
  urgent,       // a mark waits, unread
  writing,      // in bulk, and is read
  blocked,      // in send: nobody reads
  stuck,        // in send, while its own window is closed
};
inline constexpr std::array kStates{State::reading, State::idle,    State::full,    State::half_closed,
                                    State::urgent,  State::writing, State::blocked, State::stuck};

const char* to_text(Act act);
const char* to_text(State state);
// False for what no two ends can do: close with all read while the other is blocked in send, ...
bool is_possible(Act act, State state);

// Plays one act and says what `other` saw, as "all, end of stream, then broken pipe". How much: "all" that
// was written, or "all acknowledged" where a reset took what was not, or "LOST" or "WRONG".
std::string seen(lab::Socket actor, lab::Socket other, Act act, State state);

}  // namespace headrace
