// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/netns/search/script.hpp"

namespace headrace {

// What one end wrote and how its writing ended; what it heard and how that ended.
struct Heard {
  std::string written;
  std::vector<std::size_t> written_marks;  // offsets
  lab::End writing = lab::End::done;

  std::string heard;
  std::vector<std::size_t> heard_marks;
  lab::End hearing = lab::End::other;
};

struct Played {
  Heard client, server;
};

// Both ends act at once, a thread for writing and one for reading each; returns when all have ended, after
// 30 s at the latest.
Played play(const Script& script, const lab::Socket& client, const lab::Socket& server);

}  // namespace headrace
