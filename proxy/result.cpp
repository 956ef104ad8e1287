// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/result.hpp"

#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace headrace {

std::string print(const SystemError& error) {
  return std::string{error.attempt} + ": " + std::system_category().message(error.code);
}

void invariant_broken(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "headrace: broken invariant at %s:%d: %s\n", file, line, condition);
  std::abort();
}

}  // namespace headrace
