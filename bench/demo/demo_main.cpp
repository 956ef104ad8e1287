// SPDX-License-Identifier: GPL-3.0-or-later
// headrace-demo: the field stories on this machine, first direct, then with headrace inline. Makes its own
// network namespaces and removes them, also when interrupted. Exit status: 0 good, 1 failed, 2 usage, 130
// interrupted.
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "bench/demo/daemon.hpp"
#include "bench/demo/kept_lab.hpp"
#include "bench/demo/measure.hpp"
#include "bench/demo/report.hpp"

namespace headrace::lab {
namespace {

using namespace std::chrono_literals;

struct Arguments {
  bool json = false;
  bool keep = false;
  bool remove = false;
  bool direct_only = false;
  std::filesystem::path headrace;
};

void clean_up_when_told_to_stop() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupt(); };
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

Programs find_programs(const Arguments& arguments) {
  const std::filesystem::path tree =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  Programs programs{arguments.headrace, tree / "workload" / "headrace-workload"};
  if (programs.headrace.empty()) programs.headrace = tree.parent_path() / "proxy" / "headrace";
  if (!arguments.direct_only && !std::filesystem::exists(programs.headrace)) {
    throw std::runtime_error("no " + programs.headrace.string() +
                             ": build the target headrace, or say --headrace PATH");
  }
  return programs;
}

void append(std::vector<Measured>& rows, std::vector<Measured> more) {
  rows.insert(rows.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void compare_near(Comparison& comparison, const Programs& programs, bool direct_only) {
  std::fprintf(stderr, "Lab with a 5 ms link: small messages\n");
  const DemoLab demo(5ms, programs, DemoLab::Lifetime::ours);
  append(comparison.direct, measure_near(demo));
  if (direct_only) return;
  const Daemon daemon(demo, programs);
  append(comparison.headrace, measure_near(demo));
  daemon.expect_sessions(kMessagePort, kMessageSessions);
}

// Returns what to tell about the kept lab.
std::string compare_far(Comparison& comparison, const Programs& programs, const Arguments& arguments) {
  std::fprintf(stderr, "Lab with a 40 ms link: exchanges and FTP\n");
  DemoLab demo(40ms, programs, arguments.keep ? DemoLab::Lifetime::may_be_kept : DemoLab::Lifetime::ours);
  append(comparison.direct, measure_far(demo, "direct"));
  if (arguments.direct_only) return {};
  Daemon daemon(demo, programs);
  append(comparison.headrace, measure_far(demo, "headrace"));
  daemon.expect_sessions(kExchangePort, kExchangeSessions);
  daemon.expect_sessions(kFtpPort, kFtpSessions);
  if (!arguments.keep) return {};
  daemon.keep();
  demo.keep();
  note_kept_lab(demo);
  return how_to_use_kept_lab(demo, programs,
                             std::filesystem::read_symlink("/proc/self/exe").string() + " --remove");
}

int run(const Arguments& arguments) {
  if (geteuid() != 0) throw std::runtime_error("needs root, to make network namespaces");
  if (arguments.remove) {
    std::fputs(remove_kept_lab() ? "removed\n" : "no kept lab\n", stderr);
    return 0;
  }
  if (arguments.keep && kept_lab_exists())
    throw std::runtime_error("a kept lab is there already: --remove it first");
  const Programs programs = find_programs(arguments);
  Comparison comparison;
  compare_near(comparison, programs, arguments.direct_only);
  const std::string kept = compare_far(comparison, programs, arguments);
  std::fputs((arguments.json ? as_json(comparison) : as_table(comparison)).c_str(), stdout);
  std::fputs(kept.c_str(), stderr);
  return comparison.intact() ? 0 : 1;
}

}  // namespace
}  // namespace headrace::lab

int main(int argc, char** argv) {
  using namespace headrace::lab;
  Arguments arguments;
  CLI::App app("Runs the field stories on this machine, direct and through headrace, and compares");
  app.add_flag("--json", arguments.json, "the same as data on stdout; progress stays on stderr");
  app.add_flag("--keep", arguments.keep,
               "leave the lab up, headrace running, and say how to use and remove it");
  app.add_flag("--remove", arguments.remove, "remove the lab that --keep left");
  app.add_flag("--direct-only", arguments.direct_only, "measure without headrace only");
  app.add_option("--headrace", arguments.headrace, "the program to run (default: the one of this build)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    clean_up_when_told_to_stop();
    return run(arguments);
  } catch (const Interrupted&) {
    std::fprintf(stderr, "headrace-demo: interrupted; nothing is left behind\n");
    return 130;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "headrace-demo: %s\n", error.what());
    return 1;
  }
}
