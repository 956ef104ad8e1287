// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/process.hpp"

#include <signal.h>

#include <system_error>

#include "bench/lab/temp_dir.hpp"
#include "tests/test.hpp"

namespace headrace::lab {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> shell(const std::string& script) { return {"sh", "-c", script}; }

}  // namespace

TEST_CASE("process: its output and how it ended are known") {
  Process process(shell("echo to stdout; echo to stderr >&2; exit 7"));
  CHECK(process.wait(10s) == ExitStatus{7, 0});
  CHECK(process.output() == "to stdout\nto stderr\n");
  CHECK(!process.running());
}

TEST_CASE("process: waiting for words ends when they come, or when they no longer can") {
  const Process talker(shell("echo ready; exec sleep 100"));
  CHECK(talker.wait_for_output("ready", 10s));
  CHECK(!talker.wait_for_output("never", 50ms));
  CHECK(talker.running());
  const Process mute(shell("exit 0"));
  CHECK(!mute.wait_for_output("ready", 1h));
}

TEST_CASE("process: signals arrive, and a wait may come back without an end") {
  Process process(shell("trap 'echo caught; exit 3' USR1; echo ready; while :; do sleep 0.05; done"));
  REQUIRE(process.wait_for_output("ready", 10s));
  CHECK(!process.wait(20ms));
  process.signal(SIGUSR1);
  CHECK(process.wait(10s) == ExitStatus{3, 0});
  CHECK(process.output() == "ready\ncaught\n");
}

TEST_CASE("process: one that ignores SIGTERM is killed with its object") {
  pid_t pid = 0;
  {
    const Process stubborn(shell("trap '' TERM; echo ready; while :; do sleep 0.05; done"));
    REQUIRE(stubborn.wait_for_output("ready", 10s));
    pid = stubborn.pid();
  }
  CHECK(::kill(pid, 0) != 0);
}

TEST_CASE("process: environment, output file and namespace are given") {
  const TempDir directory;
  const Namespace space("process");
  ProcessOptions options;
  options.environment = {"HEADRACE_WORD=mill"};
  options.output_file = directory / "log";
  Process process(space, shell("echo $HEADRACE_WORD; ip -o link | wc -l"), options);
  CHECK(process.wait(10s) == ExitStatus{0, 0});
  CHECK(read_file(directory / "log").starts_with("mill\n"));
}

TEST_CASE("process: a program that does not exist is an exception") {
  CHECK_THROWS_AS(Process({"no-such-program"}), std::system_error);
}

}  // namespace headrace::lab
