// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/environment.hpp"

#include <sys/utsname.h>

#include <cstdio>
#include <fstream>
#include <sstream>

namespace headrace {
namespace {

std::vector<std::string> words_of(const std::string& file) {
  std::ifstream in{file};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::optional<Bytes> bytes_of(const std::string& file) {
  std::ifstream in{file};
  Bytes bytes;
  if (in >> bytes.count) return bytes;
  return std::nullopt;
}

std::optional<bool> flag_of(const std::string& file) {
  const auto number = bytes_of(file);
  if (!number) return std::nullopt;
  return number->count != 0;
}

KernelVersion running_kernel() {
  utsname names{};
  KernelVersion version;
  if (uname(&names) != 0) return version;
  std::istringstream release{names.release};
  char dot = 0;
  release >> version.major >> dot >> version.minor;
  return version;
}

}  // namespace

Environment this_environment() {
  Environment here;
  here.kernel = running_kernel();
  here.congestion_controls = words_of("/proc/sys/net/ipv4/tcp_available_congestion_control");
  const auto congestion = words_of("/proc/sys/net/ipv4/tcp_congestion_control");
  if (!congestion.empty()) here.default_congestion = congestion.front();
  here.receive_limit = bytes_of("/proc/sys/net/core/rmem_max");
  here.send_limit = bytes_of("/proc/sys/net/core/wmem_max");
  here.timestamps = flag_of("/proc/sys/net/ipv4/tcp_timestamps");
  here.sack = flag_of("/proc/sys/net/ipv4/tcp_sack");
  here.slow_start_after_idle = flag_of("/proc/sys/net/ipv4/tcp_slow_start_after_idle");
  return here;
}

}  // namespace headrace
