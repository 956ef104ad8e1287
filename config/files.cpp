// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/files.hpp"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace headrace {
namespace {

FileFault failed(std::string_view attempt) {
  return {std::string{"cannot "}.append(attempt).append(": ").append(std::strerror(errno))};
}

// Whoever writes these files decides where connections go.
std::string writable_by_others(const struct stat& status) {
  if ((status.st_mode & S_IWOTH) != 0) return "everybody may write it (chmod o-w)";
  const bool trusted = status.st_gid == 0 || status.st_gid == getegid();
  if ((status.st_mode & S_IWGRP) != 0 && !trusted) return "its group may write it (chmod g-w)";
  return {};
}

std::variant<std::string, FileFault> read_all(int descriptor) {
  std::string text;
  std::array<char, 65536> chunk{};
  for (;;) {
    const ssize_t count = read(descriptor, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("read");
    if (count == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

std::variant<std::string, FileFault> read_checked(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return failed("stat");
  if (!S_ISREG(status.st_mode)) return FileFault{"not a regular file"};
  if (auto fault = writable_by_others(status); !fault.empty()) return FileFault{std::move(fault)};
  return read_all(descriptor);
}

int note_errno(const char*, int error) {
  errno = error;
  return 1;  // ends the search
}

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

}  // namespace

std::variant<std::string, FileFault> read_config_file(const std::string& file) {
  // Not blocking: a FIFO in place of a file must not hang a reload.
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return failed("open");
  auto text = read_checked(descriptor);
  close(descriptor);
  return text;
}

Found find_files(const std::string& main_file, const std::string& pattern) {
  const auto slash = main_file.rfind('/');
  const bool absolute = pattern.starts_with('/');
  const std::string full =
      absolute || slash == main_file.npos ? pattern : main_file.substr(0, slash + 1) + pattern;
  Found found;
  glob_t paths{};
  errno = 0;
  const int result = glob(full.c_str(), GLOB_NOSORT, note_errno, &paths);
  if (result == 0) {
    for (std::size_t i = 0; i < paths.gl_pathc; ++i) found.files.emplace_back(paths.gl_pathv[i]);
  } else if (result != GLOB_NOMATCH) {
    found.missing_directory = errno == ENOENT;
    found.fault = quoted(pattern) + ": cannot read the directory: " + std::strerror(errno);
  } else if (pattern.find_first_of("*?[") == pattern.npos) {
    found.fault = quoted(pattern) + " does not exist";
  }
  globfree(&paths);
  // By bytes, not by the locale: the order decides which policy wins.
  std::sort(found.files.begin(), found.files.end());
  return found;
}

}  // namespace headrace
