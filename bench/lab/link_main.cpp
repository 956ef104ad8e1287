// SPDX-License-Identifier: GPL-3.0-or-later
// headrace-link: carries packets between two namespaces until it is told to stop. Started by EmulatedLink;
// prints "ready" once both interfaces exist.
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "bench/lab/link_runner.hpp"

namespace headrace::lab {
namespace {

struct SideArguments {
  int network_namespace = -1;  // an inherited descriptor
  std::string device;
  std::string outgoing;
  std::uint32_t offset = 0;
};

void add_side(CLI::App& app, const std::string& side, SideArguments& arguments) {
  app.add_option("--netns-" + side, arguments.network_namespace, "descriptor of the namespace")->required();
  app.add_option("--device-" + side, arguments.device, "interface to make there")->required();
  app.add_option("--from-" + side, arguments.outgoing, "what befalls packets from there: delay=...,rate=...");
  app.add_option("--offset-" + side, arguments.offset, "added to its TCP sequence numbers");
}

LinkRunner::Side open_side(const SideArguments& arguments) {
  checked(setns(arguments.network_namespace, CLONE_NEWNET), "setns");
  return {open_tun(arguments.device), parse_direction(arguments.outgoing), arguments.offset};
}

// Packets must leave on time while compilers and the tested programs want both cores. Best effort.
void be_punctual() {
  prctl(PR_SET_TIMERSLACK, 1);
  const sched_param priority{1};
  if (sched_setscheduler(0, SCHED_RR, &priority) != 0) setpriority(PRIO_PROCESS, 0, -15);
}

}  // namespace
}  // namespace headrace::lab

int main(int argc, char** argv) {
  using namespace headrace::lab;
  CLI::App app("Carries IP packets between two TUN devices with delay, rate, queue and loss");
  SideArguments a;
  SideArguments b;
  add_side(app, "a", a);
  add_side(app, "b", b);
  CLI11_PARSE(app, argc, argv);
  try {
    LinkRunner::obey_signals();
    LinkRunner runner(open_side(a), open_side(b));
    be_punctual();
    std::puts("ready");
    std::fflush(stdout);
    runner.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "headrace-link: %s\n", error.what());
    return 1;
  }
}
