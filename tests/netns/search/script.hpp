// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/lab/socket.hpp"

namespace headrace {

// What the writer of one end does next.
struct Step {
  enum class Kind : std::uint8_t { write, urgent, pause };
  Kind kind = Kind::write;
  std::size_t amount = 1;  // bytes, or microseconds of a pause
};

struct EndScript {
  lab::SocketOptions options;
  std::vector<Step> steps;
  bool resets = false;           // at last, instead of an end in order
  std::size_t read_limit = 0;    // bytes a recv
  int reads_between_pauses = 0;  // 0: never pauses
};

// Two ends that write and read at the same time, each at its own pace.
struct Script {
  std::uint64_t seed = 0;
  EndScript client, server;
};

// The same for the same seed, on any machine. Pure.
Script random_script(std::uint64_t seed);
std::string print(const Script& script);

}  // namespace headrace
