// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/sysctl.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace headrace {
namespace {

[[noreturn]] void fail(const std::string& name, const std::string& reason) {
  throw std::runtime_error("sysctl " + name + ": " + reason);
}

// As sysctl(8): dots separate, and a slash stands for a dot within a name (net.ipv4.conf.eth0/100.mtu).
std::string path_of(const std::string& name) {
  std::string path = name;
  for (char& c : path) c = c == '.' ? '/' : c == '/' ? '.' : c;
  if (path.empty() || path.front() == '/' || path.find("//") != std::string::npos ||
      ("/" + path + "/").find("/../") != std::string::npos) {
    fail(name, "not a name (net.ipv4.tcp_migrate_req)");
  }
  return "/proc/sys/" + path;
}

std::vector<std::string> words(std::string_view text) {
  std::istringstream stream{std::string{text}};
  std::vector<std::string> found;
  for (std::string word; stream >> word;) found.push_back(word);
  return found;
}

}  // namespace

std::optional<std::string> read_sysctl(const std::string& name) {
  const int fd = ::open(path_of(name).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return std::nullopt;
  if (fd < 0) fail(name, std::generic_category().message(errno));
  std::array<char, 4096> text;
  const ssize_t got = ::read(fd, text.data(), text.size());
  const int error = errno;
  ::close(fd);
  if (got < 0) fail(name, std::generic_category().message(error));
  std::string value{text.data(), static_cast<std::size_t>(got)};
  while (!value.empty() && value.back() == '\n') value.pop_back();
  return value;
}

void write_sysctl(const std::string& name, std::string_view value) {
  const int fd = ::open(path_of(name).c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) fail(name, std::generic_category().message(errno));
  const ssize_t written = ::write(fd, value.data(), value.size());  // one write is one setting
  const int error = errno;
  ::close(fd);
  if (written < 0) fail(name, "\"" + std::string{value} + "\": " + std::generic_category().message(error));
}

bool same_sysctl_value(std::string_view left, std::string_view right) { return words(left) == words(right); }

}  // namespace headrace
