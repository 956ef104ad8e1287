// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/command.hpp"

#include <pthread.h>

#include <csignal>
#include <cstdlib>

#include "tests/test.hpp"

namespace headrace {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("command: more input and output than a pipe holds passes through") {
  const std::string much(1 << 20, 'x');
  const CommandResult result = run_command({"cat"}, much);
  CHECK(result.ok());
  CHECK(result.out == much);
}

TEST_CASE("command: both streams and the status come back") {
  const CommandResult result = run_command({"sh", "-c", "echo said; echo wrong >&2; exit 3"});
  CHECK(result.status == 3);
  CHECK(result.out == "said\n");
  CHECK(result.err == "wrong\n");
  CHECK(run_command({"sh", "-c", "kill -9 $$"}).status == 128 + SIGKILL);
}

TEST_CASE("command: a program that reads none of its input is no error") {
  CHECK(run_command({"true"}, std::string(1 << 20, 'x')).ok());
}

TEST_CASE("command: arguments reach the program as they are, without a shell") {
  CHECK(run_command({"printf", "%s|", "a b", "$HOME", "'"}).out == "a b|$HOME|'|");
}

TEST_CASE("command: the child has no signal blocked and dies of SIGPIPE, whatever we do with them") {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  REQUIRE(::pthread_sigmask(SIG_BLOCK, &all, &before) == 0);
  const auto handler = std::signal(SIGPIPE, SIG_IGN);
  const CommandResult result = run_command({"grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status"});
  std::signal(SIGPIPE, handler);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  CHECK_THAT(result.out, Contains("SigBlk:\t0000000000000000"));
  const auto ignored = std::strtoull(result.out.substr(result.out.rfind('\t')).c_str(), nullptr, 16);
  CHECK((ignored & (1ULL << (SIGPIPE - 1))) == 0);
}

TEST_CASE("command: programs of the system administrator are found without a PATH to them") {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  CHECK(run_command({"ip", "-Version"}).ok());
  CHECK_THROWS_WITH(run_command({"no-such-program"}), Contains("no-such-program: not installed"));
  ::setenv("PATH", path.c_str(), 1);
}

TEST_CASE("command: a required command that fails says what was tried and why") {
  CHECK_THROWS_WITH(require_command({"sh", "-c", "echo no >&2; false"}), "sh -c 'echo no >&2; false': no");
}

}  // namespace
}  // namespace headrace
