// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/spawn.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "bench/lab/handle.hpp"

namespace headrace::lab {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  // NOLINTNEXTLINE: execve's signature predates const
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

std::vector<char*> merged_environment(const std::vector<std::string>& added) {
  std::vector<char*> result = pointers(added);
  result.pop_back();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name = std::string_view(*entry).substr(0, std::string_view(*entry).find('=') + 1);
    const auto same = [&](const std::string& word) { return word.starts_with(name); };
    if (std::none_of(added.begin(), added.end(), same)) result.push_back(*entry);
  }
  result.push_back(nullptr);
  return result;
}

// Everything below runs between fork and exec: only async-signal-safe calls.
struct Child {
  const SpawnRequest& request;
  char** argv;
  char** envp;
  int null;
  int report;
  pid_t parent;

  bool wire(int from, int to) const { return dup2(from < 0 ? null : from, to) >= 0; }

  bool prepare() const {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    signal(SIGPIPE, SIG_DFL);
    if (request.network_namespace >= 0 && setns(request.network_namespace, CLONE_NEWNET) != 0) return false;
    if (!request.may_outlive_us) {
      if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return false;
      if (getppid() != parent) _exit(127);  // it died before we asked
    } else {
      setsid();
    }
    return wire(request.input, 0) && wire(request.output, 1) && wire(request.error, 2);
  }

  [[noreturn]] void become() const {
    if (prepare()) execvpe(argv[0], argv, envp);
    const int error = errno;
    if (write(report, &error, sizeof error) < 0) _exit(126);
    _exit(127);
  }
};

Handle unnamed_file() {
  std::array<char, 32> name{"/tmp/headrace-output-XXXXXX"};
  Handle file(checked(mkostemp(name.data(), O_CLOEXEC), "mkostemp"));
  unlink(name.data());
  return file;
}

std::string contents(int fd) {
  std::string text(static_cast<std::size_t>(lseek(fd, 0, SEEK_END)), '\0');
  const ssize_t got = pread(fd, text.data(), text.size(), 0);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

// The program must not go on when nobody waits for it any more.
void stop_if_interrupted(pid_t pid) {
  try {
    throw_if_interrupted();
  } catch (const Interrupted&) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    throw;
  }
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

pid_t spawn(const SpawnRequest& request) {
  std::vector<char*> argv = pointers(request.argv);
  std::vector<char*> envp = merged_environment(request.environment);
  const Handle null(checked(open("/dev/null", O_RDWR | O_CLOEXEC), "/dev/null"));
  std::array<int, 2> ends{};
  checked(pipe2(ends.data(), O_CLOEXEC), "pipe2");
  const Handle report(ends[0]);
  Handle reported(ends[1]);
  const Child child{request, argv.data(), envp.data(), null.get(), reported.get(), getpid()};
  const pid_t pid = checked(fork(), "fork");
  if (pid == 0) child.become();
  reported.reset();
  int error = 0;
  if (read(report.get(), &error, sizeof error) == static_cast<ssize_t>(sizeof error)) {
    waitpid(pid, nullptr, 0);
    throw std::system_error(error, std::generic_category(), "cannot start " + joined(request.argv));
  }
  return pid;
}

std::string run_command(const std::vector<std::string>& argv, int network_namespace, std::string_view input) {
  const Handle in = unnamed_file();
  const Handle out = unnamed_file();
  const Handle err = unnamed_file();
  if (write(in.get(), input.data(), input.size()) != static_cast<ssize_t>(input.size())) throw_errno("write");
  lseek(in.get(), 0, SEEK_SET);
  SpawnRequest request;
  request.argv = argv;
  request.network_namespace = network_namespace;
  request.input = in.get();
  request.output = out.get();
  request.error = err.get();
  const pid_t pid = spawn(request);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) throw_errno("waitpid");
    stop_if_interrupted(pid);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return contents(out.get());
  const std::string how = WIFEXITED(status) ? "exit " + std::to_string(WEXITSTATUS(status))
                                            : "signal " + std::to_string(WTERMSIG(status));
  throw std::runtime_error(joined(argv) + ": " + how + ": " + contents(err.get()) + std::string(input));
}

}  // namespace headrace::lab
