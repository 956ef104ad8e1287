// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace headrace {
namespace {

[[noreturn]] void fail(const std::string& attempt, int error) {
  throw std::runtime_error(attempt + ": " + std::generic_category().message(error));
}

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_{fd} {}
  Descriptor(Descriptor&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe", errno);
  return {Descriptor{ends[0]}, Descriptor{ends[1]}};
}

// A file in memory rather than a pipe: the child reads at its leisure, so there is no deadlock to avoid
// and no SIGPIPE to keep from a library user's process. `nft -f -` opens /dev/stdin anew, which a socket
// pair would refuse.
Descriptor input_file(std::string_view input) {
  Descriptor file{::memfd_create("headrace-input", MFD_CLOEXEC)};
  if (file.get() < 0) fail("memfd_create", errno);
  while (!input.empty()) {
    const ssize_t written = ::write(file.get(), input.data(), input.size());
    if (written < 0 && errno != EINTR) fail("write to memory file", errno);
    if (written > 0) input.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::lseek(file.get(), 0, SEEK_SET) != 0) fail("lseek", errno);
  return file;
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::string folders = path != nullptr ? path : "/usr/bin:/bin";
  folders += ":/usr/sbin:/sbin";
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string candidate = folders.substr(begin, end - begin) + "/" + name;
    if (end > begin && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    begin = end + 1;
  }
  throw std::runtime_error(name + ": not installed (looked in " + folders + ")");
}

class SpawnOptions {
 public:
  SpawnOptions(int in, int out, int err) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, in, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, err, STDERR_FILENO);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes_, &defaults);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnOptions(const SpawnOptions&) = delete;
  SpawnOptions& operator=(const SpawnOptions&) = delete;
  ~SpawnOptions() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }

  pid_t spawn(const std::vector<std::string>& argv) const {
    std::vector<char*> arguments;
    for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    pid_t child = 0;
    const int error = ::posix_spawn(&child, find_program(argv.at(0)).c_str(), &actions_, &attributes_,
                                    arguments.data(), environ);
    if (error != 0) fail(argv.at(0), error);
    return child;
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// Appends what is there; closes the descriptor at the end.
void read_some(Descriptor& from, std::string& into) {
  std::array<char, 16384> buffer;
  const ssize_t got = ::read(from.get(), buffer.data(), buffer.size());
  if (got > 0) {
    into.append(buffer.data(), static_cast<std::size_t>(got));
  } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
    from.close();
  }
}

void read_to_end(Descriptor& out, Descriptor& err, CommandResult& result) {
  while (out.get() >= 0 || err.get() >= 0) {
    std::array<pollfd, 2> waiting{{{out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}}};  // poll skips -1
    if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) fail("poll", errno);
    if (waiting[0].revents != 0) read_some(out, result.out);
    if (waiting[1].revents != 0) read_some(err, result.err);
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) fail("waitpid", errno);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         std::string_view{"-_./:=,+@%"}.find(c) != std::string_view::npos;
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& argv, std::string_view input) {
  const Descriptor in = input_file(input);
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  const pid_t child = SpawnOptions{in.get(), out.write.get(), err.write.get()}.spawn(argv);
  out.write.close();
  err.write.close();
  CommandResult result;
  read_to_end(out.read, err.read, result);
  result.status = wait_for(child);
  return result;
}

CommandResult require_command(const std::vector<std::string>& argv, std::string_view input) {
  CommandResult result = run_command(argv, input);
  if (result.ok()) return result;
  std::string said = result.err.substr(0, 2000);
  while (!said.empty() && said.back() == '\n') said.pop_back();
  throw std::runtime_error(print_command(argv) + ": " +
                           (said.empty() ? "exit status " + std::to_string(result.status) : said));
}

std::string print_command(const std::vector<std::string>& argv) {
  std::string text;
  for (const std::string& argument : argv) {
    if (!text.empty()) text += ' ';
    if (!argument.empty() && std::all_of(argument.begin(), argument.end(), is_plain)) {
      text += argument;
      continue;
    }
    text += '\'';
    for (const char c : argument) text.append(c == '\'' ? std::string{"'\\''"} : std::string(1, c));
    text += '\'';
  }
  return text;
}

}  // namespace headrace
