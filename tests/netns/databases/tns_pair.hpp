// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/netns/databases/tns.hpp"
#include "tests/netns/databases/two_ways.hpp"

namespace headrace::tns {

inline constexpr int kPort = 1521;
inline constexpr std::size_t kRequest = 21, kAnswer = 9356;  // SQL*Plus, whole packets

// A client that has logged in, and the server that took it.
struct Pair {
  LoggedIn client;
  Accepted server;
};
Pair make_pair(const TwoWays& ways, const std::string& place, const lab::Socket& listener);
Pair make_pair(const TwoWays& ways, const std::string& place, bool urgent_inline = false);

// A packet there and one back; false when either was not what had been sent.
bool exchange(const Pair& pair, std::size_t request_size, std::size_t answer_size);

}  // namespace headrace::tns
