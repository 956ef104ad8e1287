// SPDX-License-Identifier: GPL-3.0-or-later
#include <array>

#include "bench/speed/scenario.hpp"

namespace headrace::lab {
namespace {

constexpr std::array<Scenario, 8> kScenarios{{
    {"sqlplus",
     "questions and answers over a WAN: round trips an exchange, first, back to back, after pauses",
     run_sqlplus},
    {"delack", "small messages with Nagle at both ends: how many wait for a delayed acknowledgement",
     run_delack},
    {"t1", "a T1 line and a server with an MSS of 512 and a window that closes", run_t1},
    {"gprs", "FTP at 40 kbit/s and 700 ms, and what each setting brings", run_gprs},
    {"edge", "FTP at 200 kbit/s and 450 ms, and what each setting brings", run_edge},
    {"lossy", "60 MB at 50 Mbit/s, 100 ms and 0.5 % loss", run_lossy},
    {"lan", "what headrace costs where nothing is to be cured: bulk, small messages, connections, idle",
     run_lan},
    {"scale", "what stays flat: 10 to 8,000 sessions, 10 to 100,000 policies; single operations", run_scale},
}};

}  // namespace

std::span<const Scenario> scenarios() { return kScenarios; }

}  // namespace headrace::lab
