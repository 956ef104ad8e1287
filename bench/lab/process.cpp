// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "bench/lab/spawn.hpp"

namespace headrace::lab {
namespace {

using namespace std::chrono_literals;
constexpr auto kGrace = 2s;

Handle open_output(const std::filesystem::path& named) {
  std::string path = named.string();
  const bool temporary = path.empty();
  if (temporary) path = "/tmp/headrace-output-XXXXXX";
  Handle file(temporary ? mkostemp(path.data(), O_APPEND | O_CLOEXEC)
                        : open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644));
  if (!file) throw_errno(path);
  if (temporary) unlink(path.c_str());
  return file;
}

// Only as long as somebody waits: a user may have 128 of these at once (fs.inotify.max_user_instances), fewer
// than a run has programs.
Handle watch_for_changes(int file) {
  Handle changes(checked(inotify_init1(IN_CLOEXEC | IN_NONBLOCK), "inotify_init1"));
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  checked(inotify_add_watch(changes.get(), path.c_str(), IN_MODIFY), "inotify_add_watch");
  return changes;
}

void drain(int fd) {
  std::array<char, 4096> buffer;
  while (read(fd, buffer.data(), buffer.size()) > 0) {
  }
}

int occurrences(const std::string& all, std::string_view text) {
  int count = 0;
  for (std::size_t at = all.find(text); at != std::string::npos; at = all.find(text, at + text.size()))
    ++count;
  return count;
}

}  // namespace

Process::Process(const std::vector<std::string>& argv, const ProcessOptions& options)
    : Process(-1, argv, options) {}

Process::Process(const Namespace& where, const std::vector<std::string>& argv, const ProcessOptions& options)
    : Process(where.descriptor(), argv, options) {}

Process::Process(int network_namespace, const std::vector<std::string>& argv, const ProcessOptions& options) {
  output_ = open_output(options.output_file);
  SpawnRequest request;
  request.argv = argv;
  request.environment = options.environment;
  request.network_namespace = network_namespace;
  request.output = output_.get();
  request.error = output_.get();
  request.may_outlive_us = options.may_outlive_us;
  pid_ = spawn(request);
  ended_ = Handle(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  if (!ended_) throw_errno("pidfd_open");
}

Process::Process(Process&& other) noexcept
    : output_(std::move(other.output_)),
      ended_(std::move(other.ended_)),
      pid_(std::exchange(other.pid_, -1)),
      status_(std::exchange(other.status_, std::nullopt)),
      released_(other.released_) {}

Process::~Process() {
  if (pid_ < 0 || status_ || released_) return;
  try {
    signal(SIGTERM);
    if (!wait(kGrace)) kill();
  } catch (const std::exception&) {
    ::kill(pid_, SIGKILL);
  }
}

bool Process::running() const {
  pollfd watched{ended_.get(), POLLIN, 0};
  return !status_ && poll(&watched, 1, 0) == 0;
}

bool Process::wait_for_output(std::string_view text, std::chrono::nanoseconds timeout, int times) const {
  const Deadline deadline(timeout);
  const Handle changes = watch_for_changes(output_.get());
  while (true) {
    drain(changes.get());
    const bool alive = running();  // asked before reading, so that the last words count
    if (occurrences(output(), text) >= times) return true;
    throw_if_interrupted();
    if (!alive || deadline.passed()) return false;
    std::array<pollfd, 2> watched{{{changes.get(), POLLIN, 0}, {ended_.get(), POLLIN, 0}}};
    if (poll(watched.data(), watched.size(), deadline.poll_timeout()) < 0 && errno != EINTR)
      throw_errno("poll");
  }
}

std::string Process::output() const {
  struct stat about {};
  checked(fstat(output_.get(), &about), "fstat");
  std::string text(static_cast<std::size_t>(about.st_size), '\0');
  const ssize_t got = pread(output_.get(), text.data(), text.size(), 0);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

void Process::signal(int number) const {
  if (!status_) ::kill(pid_, number);
}

void Process::kill() {
  signal(SIGKILL);
  if (!status_) reap();
}

std::optional<ExitStatus> Process::wait(std::chrono::nanoseconds timeout) {
  if (!status_ && wait_for(ended_.get(), POLLIN, Deadline(timeout))) reap();
  return status_;
}

void Process::reap() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0) {
    if (errno != EINTR) throw_errno("waitpid");
  }
  status_ = WIFEXITED(status) ? ExitStatus{WEXITSTATUS(status), 0} : ExitStatus{-1, WTERMSIG(status)};
}

}  // namespace headrace::lab
