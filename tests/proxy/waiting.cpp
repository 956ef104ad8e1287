// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/proxy/waiting.hpp"

#include <poll.h>

#include <algorithm>

namespace headrace {

bool eventually(const std::function<bool()>& condition, std::chrono::nanoseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

std::string compare(const std::string& received, const std::string& sent) {
  if (received == sent) return kWhole;
  const auto [here, there] = std::mismatch(received.begin(), received.end(), sent.begin(), sent.end());
  const auto same = std::to_string(here - received.begin());
  return std::to_string(received.size()) + " bytes of " + std::to_string(sent.size()) + ", equal up to " +
         same;
}

}  // namespace headrace
