// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/demo/daemon.hpp"

#include <signal.h>

#include <cstdio>
#include <exception>
#include <stdexcept>

namespace headrace::lab {
namespace {

using namespace std::chrono_literals;

// The client leg crosses the WAN. It names cubic because a machine whose default is bbr would pace its
// bursts.
constexpr const char* kPolicy = R"([[policy]]
name       = "demo"
to         = ["198.18.2.2"]
client_leg = { profile = "wan-interactive", congestion = "cubic" }
server_leg = "lan"
)";

std::filesystem::path write_files(const TempDir& dir) {
  const std::string root = dir.path().string();
  dir.write("policies.d/10-demo.toml", kPolicy);
  return dir.write("headrace.toml",
                   "policy_files = \"policies.d/*.toml\"\n\n[intercept]\ninterfaces = [\"wan0\"]\n"
                   "state_file = \"" +
                       root + "/net-state.json\"\n\n[admin]\nsocket = \"" + root +
                       "/admin.sock\"\nstate_directory = \"" + root + "\"\n");
}

std::filesystem::path net_up(const DemoLab& demo, const Programs& programs) {
  const std::filesystem::path file = write_files(demo.dir);
  demo.lab.middle.command({programs.headrace, "net", "up", "-c", file});
  return file;
}

ProcessOptions logged(const DemoLab& demo) {
  ProcessOptions options;
  options.output_file = demo.dir / "headrace.log";
  options.may_outlive_us = demo.may_be_kept();
  return options;
}

}  // namespace

Daemon::Daemon(const DemoLab& demo, const Programs& programs)
    : demo_(demo),
      program_(programs.headrace),
      file_(net_up(demo, programs)),
      process_(demo.lab.middle, {program_, "run", "-c", file_}, logged(demo)) {
  if (!process_.wait_for_output("ready", 10s)) {
    throw std::runtime_error("headrace did not get ready:\n" + process_.output());
  }
}

Daemon::~Daemon() {
  if (kept_) return;
  try {
    process_.signal(SIGTERM);
    if (!process_.wait(5s)) process_.kill();
    demo_.lab.middle.command({program_, "net", "down", "-c", file_});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "headrace-demo: %s\n", error.what());  // the namespace goes anyway, and all with it
  }
}

void Daemon::expect_sessions(int port, int count) const {
  const std::string text = "server=" + endpoint(kServer4, port) + " ";
  if (process_.wait_for_output(text, 10s, count)) return;
  throw std::runtime_error("headrace logged fewer than " + std::to_string(count) + " sessions with \"" +
                           text + "\": the traffic did not go through it. Its log:\n" + process_.output());
}

void Daemon::keep() {
  process_.release();
  kept_ = true;
}

}  // namespace headrace::lab
