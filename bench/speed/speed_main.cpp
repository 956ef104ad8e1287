// SPDX-License-Identifier: GPL-3.0-or-later
// headrace-bench: measures headrace against other proxies and against no proxy at all, by scenario. Makes its
// own network namespaces and removes them, also when interrupted. Exit status: 0 measured (whatever came
// out), 1 failed, 2 usage, 130 interrupted.
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>

#include "bench/lab/handle.hpp"
#include "bench/speed/machine.hpp"
#include "bench/speed/plot_svg.hpp"
#include "bench/speed/progress.hpp"
#include "bench/speed/report_html.hpp"
#include "bench/speed/scenario.hpp"
#include "bench/speed/turns.hpp"

namespace headrace::lab {
namespace {

struct Arguments {
  std::vector<std::string> scenarios;
  std::filesystem::path json, html;
  ScenarioRequest request;
};

void clean_up_when_told_to_stop() {
  struct sigaction action {};
  action.sa_handler = [](int) {
    take_no_more_turns();
    interrupt();
  };
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

std::filesystem::path program_of_this_build() {
  const auto tree = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path().parent_path();
  return tree / "proxy" / "headrace";
}

std::vector<Scenario> chosen(const Arguments& arguments) {
  std::vector<Scenario> list;
  const auto& names = arguments.scenarios;
  for (const Scenario& one : scenarios()) {
    if (names.empty() || std::find(names.begin(), names.end(), one.name) != names.end()) list.push_back(one);
  }
  return list;
}

CLI::Validator known_scenario() {
  std::vector<std::string> names;
  for (const Scenario& one : scenarios()) names.emplace_back(one.name);
  return CLI::IsMember(names);
}

std::string list_of_scenarios() {
  std::string text = "Scenarios:\n";
  for (const Scenario& one : scenarios()) text += std::string("  ") + one.name + ": " + one.says + "\n";
  return text;
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

// Found out now, not after the measuring.
void check_writable(const std::filesystem::path& path) {
  if (!path.empty() && !std::ofstream(path, std::ios::app))
    throw std::runtime_error("cannot write " + path.string());
}

int run(Arguments& arguments) {
  if (geteuid() != 0) throw std::runtime_error("needs root, to make network namespaces");
  if (arguments.request.headrace.empty()) arguments.request.headrace = program_of_this_build();
  check_writable(arguments.json);
  check_writable(arguments.html);
  std::vector<ScenarioReport> reports;
  for (const Scenario& one : chosen(arguments)) {
    std::fprintf(stderr, "%s: %s\n", one.name, one.says);
    reports.push_back(one.run(arguments.request));
    end_progress();
    std::fputs(as_text(reports.back()).c_str(), stdout);
    std::fflush(stdout);
  }
  const Machine machine = this_machine(arguments.request.headrace);
  if (!arguments.json.empty()) write_file(arguments.json, as_json(reports, machine));
  if (!arguments.html.empty()) write_file(arguments.html, as_html(reports, machine, draw_svg));
  return 0;
}

}  // namespace
}  // namespace headrace::lab

int main(int argc, char** argv) {
  using namespace headrace::lab;
  Arguments arguments;
  CLI::App app("Measures headrace against haproxy, nginx and no proxy at all");
  app.footer(list_of_scenarios());
  app.add_option("scenario", arguments.scenarios, "only these")->check(known_scenario());
  app.add_flag("--quick", arguments.request.quick, "fewer and shorter turns; too few to judge bars");
  app.add_option("--row", arguments.request.rows, "only this row of the scenario; may be repeated");
  app.add_option("--contender", arguments.request.contenders,
                 "only this contender, by its id; may be repeated");
  app.add_option("--json", arguments.json,
                 "write everything measured to this file (format: bench/README.md)");
  app.add_option("--html", arguments.html, "write a page with tables and plots to this file");
  app.add_option("--headrace", arguments.request.headrace, "the program to measure (default: this build's)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    clean_up_when_told_to_stop();
    return run(arguments);
  } catch (const std::exception& error) {
    end_progress();
    if (takes_no_more_turns()) {
      std::fprintf(stderr, "headrace-bench: interrupted; nothing is left behind\n");
      return 130;
    }
    std::fprintf(stderr, "headrace-bench: %s\n", error.what());
    return 1;
  }
}
