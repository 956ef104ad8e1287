// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace headrace::lab {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

const Clock::time_point kStart = Clock::now();

// 0 when stderr is no terminal.
std::size_t columns_of_terminal() {
  winsize size{};
  if (isatty(STDERR_FILENO) == 0) return 0;
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col - std::size_t{1} : 79;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string progress_line(std::chrono::seconds since_start, std::string_view what, std::size_t columns) {
  char time[32] = {};
  std::snprintf(time, sizeof time, "[%2lld:%02lld] ", static_cast<long long>(since_start / 1min),
                static_cast<long long>(since_start.count() % 60));
  std::string line = time + std::string(what);
  if (columns == 0) return line;
  std::size_t seen = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!is_continuation(line[i]) && seen++ == columns) return line.substr(0, i);
  }
  return line;
}

void show_progress(const std::string& what) {
  const std::size_t columns = columns_of_terminal();
  const auto since = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - kStart);
  const std::string line = progress_line(since, what, columns);
  std::fprintf(stderr, columns == 0 ? "%s\n" : "\r%s\x1b[K", line.c_str());
  std::fflush(stderr);
}

void end_progress() {
  if (columns_of_terminal() == 0) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

}  // namespace headrace::lab
