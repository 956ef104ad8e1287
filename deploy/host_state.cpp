// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/host_state.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "deploy/sysctl.hpp"

namespace headrace {
namespace {

constexpr std::string_view kFormat = "headrace-net-1";

[[noreturn]] void fail(const std::string& what, const std::string& reason) {
  throw std::runtime_error(what + ": " + reason);
}
[[noreturn]] void fail_with_errno(const std::string& what) {
  fail(what, std::generic_category().message(errno));
}

std::string folder_of(const std::string& file) {
  const std::string folder = std::filesystem::path{file}.parent_path();
  return folder.empty() ? "." : folder;
}

class File {
 public:
  File(const std::string& name, int flags, mode_t mode = 0)
      : fd_{::open(name.c_str(), flags | O_CLOEXEC, mode)} {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

void require_trustworthy(const std::string& file, int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) fail_with_errno(file);
  if (!S_ISREG(status.st_mode)) fail(file, "not a regular file; not believed");
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) fail(file, "belongs to another user; not believed");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) fail(file, "others may write it; not believed");
}

std::string read_all(const std::string& file, int fd) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got == 0) return text;
    if (got < 0 && errno != EINTR) fail_with_errno(file);
    if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

void write_all(const std::string& file, int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) fail_with_errno(file);
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(fd) != 0) fail_with_errno(file);
}

void sync_folder(const std::string& file) {
  const File folder{folder_of(file), O_RDONLY | O_DIRECTORY};
  if (folder.get() < 0 || ::fsync(folder.get()) != 0) fail_with_errno(folder_of(file));
}

nlohmann::json to_json(const DivertRoute& route) {
  nlohmann::json families = nlohmann::json::array();
  for (const Family family : route.families) families.push_back(family == Family::ipv4 ? 4 : 6);
  return {{"mark", route.mark.mark},
          {"mask", route.mark.mask},
          {"table", route.table},
          {"preference", route.preference},
          {"families", families}};
}

DivertRoute route_from(const nlohmann::json& json) {
  DivertRoute route{{json.at("mark"), json.at("mask")}, json.at("table"), json.at("preference"), {}};
  for (const int family : json.at("families"))
    route.families.push_back(family == 4 ? Family::ipv4 : Family::ipv6);
  return route;
}

HostState parse(const std::string& file, const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    if (json.at("format") != kFormat) fail(file, "written by another version");
    HostState state{json.at("boot"), json.at("network_namespace"), json.at("originals"), {}};
    // Added later; a file without it is of a `net up` that recorded no routes.
    for (const auto& route : json.value("routes", nlohmann::json::array()))
      state.routes.push_back(route_from(route));
    return state;
  } catch (const nlohmann::json::exception&) {
    fail(file, "not a state file of headrace");
  }
}

std::string new_file(const std::string& file) { return file + ".new"; }

}  // namespace

HostState state_of_this_host() {
  struct stat status {};
  if (::stat("/proc/thread-self/ns/net", &status) != 0) fail_with_errno("/proc/thread-self/ns/net");
  return {read_sysctl("kernel.random.boot_id").value_or(""), std::to_string(status.st_ino), {}, {}};
}

std::optional<HostState> read_state(const std::string& file) {
  const File opened{file, O_RDONLY | O_NOFOLLOW};
  if (opened.get() < 0 && errno == ENOENT) return std::nullopt;
  if (opened.get() < 0) fail_with_errno(file);
  require_trustworthy(file, opened.get());
  HostState state = parse(file, read_all(file, opened.get()));
  const HostState here = state_of_this_host();
  if (state.boot != here.boot) return std::nullopt;
  if (state.network_namespace != here.network_namespace) {
    fail(file, "is of another network namespace (remove it if that one is gone)");
  }
  return state;
}

void write_state(const std::string& file, const HostState& state) {
  nlohmann::json routes = nlohmann::json::array();
  for (const DivertRoute& route : state.routes) routes.push_back(to_json(route));
  const nlohmann::json json{{"format", kFormat},
                            {"boot", state.boot},
                            {"network_namespace", state.network_namespace},
                            {"originals", state.originals},
                            {"routes", routes}};
  const std::string temporary = new_file(file);
  ::unlink(temporary.c_str());  // of a run that was killed
  const File opened{temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600};
  if (opened.get() < 0) fail_with_errno(temporary);
  write_all(temporary, opened.get(), json.dump(2) + "\n");
  if (::rename(temporary.c_str(), file.c_str()) != 0) fail_with_errno(file);
  sync_folder(file);
}

void remove_state(const std::string& file) {
  for (const std::string& name : {new_file(file), file}) {
    if (::unlink(name.c_str()) != 0 && errno != ENOENT) fail_with_errno(name);
  }
  sync_folder(file);
}

StateLock::StateLock(const std::string& file) {
  std::error_code error;
  std::filesystem::create_directories(folder_of(file), error);
  folder_ = ::open(folder_of(file).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) fail_with_errno(folder_of(file));
  while (::flock(folder_, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    const int why = errno;
    ::close(folder_);
    fail(folder_of(file), std::generic_category().message(why));
  }
}

StateLock::~StateLock() { ::close(folder_); }

}  // namespace headrace
