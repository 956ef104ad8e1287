// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/namespace.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "bench/lab/spawn.hpp"
#include "bench/lab/temp_dir.hpp"

namespace headrace::lab {
namespace {

constexpr const char* kDirectory = "/run/netns/";

std::string fresh_name(std::string_view hint) {
  static std::atomic<int> counter{0};
  return "hr-" + std::to_string(getpid()) + "-" + std::to_string(++counter) + "-" + std::string(hint);
}

// "hr-PID-..." whose process is gone: its test was killed before its destructors ran.
bool is_orphan(const std::string& name) {
  if (!name.starts_with("hr-")) return false;
  const long pid = std::strtol(name.c_str() + 3, nullptr, 10);
  return pid > 0 && kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

void remove_orphans() {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(kDirectory, ignored)) {
    if (is_orphan(entry.path().filename())) remove_namespace(entry.path().filename());
  }
}

std::string sysctl_path(std::string_view key) {
  std::string path = "/proc/sys/" + std::string(key);
  std::replace(path.begin() + 10, path.end(), '.', '/');
  return path;
}

}  // namespace

Namespace::Namespace(std::string_view hint) : Namespace(ExactName{fresh_name(hint)}) {}

Namespace Namespace::named(std::string name) { return Namespace(ExactName{std::move(name)}); }

Namespace::Namespace(ExactName exact) : name_(std::move(exact.name)) {
  static std::once_flag once;
  std::call_once(once, remove_orphans);
  run_command({"ip", "netns", "add", name_});
  handle_ = Handle(checked(open((kDirectory + name_).c_str(), O_RDONLY | O_CLOEXEC), "open namespace"));
  ip("link set lo up");
  for (const char* which : {"all", "default"}) {
    const std::string conf = std::string("net.ipv6.conf.") + which;
    sysctl(conf + ".accept_dad", "0");
    sysctl(conf + ".dad_transmits", "0");
  }
}

Namespace::~Namespace() {
  if (handle_ && !kept_) remove_namespace(name_);
}

std::string Namespace::command(const std::vector<std::string>& argv, std::string_view input) const {
  return run_command(argv, handle_.get(), input);
}

void Namespace::ip(std::string_view lines) const { command({"ip", "-batch", "-"}, lines); }

void Namespace::sysctl(std::string_view key, std::string_view value) const {
  run([&] {
    const std::string path = sysctl_path(key);
    const Handle file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file || write(file.get(), value.data(), value.size()) < 0) {
      throw_errno(path + " = " + std::string(value));
    }
  });
}

std::string Namespace::sysctl(std::string_view key) const {
  std::string value = run([&] { return read_file(sysctl_path(key)); });
  while (!value.empty() && value.back() == '\n') value.pop_back();
  return value;
}

Namespace::Entered::Entered(int descriptor)
    : home_(checked(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), "own namespace")) {
  checked(setns(descriptor, CLONE_NEWNET), "setns");
}

Namespace::Entered::~Entered() {
  // A thread that cannot come home would do the rest of the test somewhere else.
  if (setns(home_.get(), CLONE_NEWNET) != 0) std::abort();
}

bool remove_namespace(const std::string& name) noexcept {
  const std::string path = kDirectory + name;
  umount2(path.c_str(), MNT_DETACH);
  return unlink(path.c_str()) == 0;
}

}  // namespace headrace::lab
