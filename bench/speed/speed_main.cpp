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
#include <map>

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

// A plot is drawn once, though the page that shows it is written after each scenario.
Drawing drawn_once() {
  return [drawn = std::map<std::string, std::string>()](const Plot& plot) mutable {
    const std::string script = gnuplot_script(plot);
    const auto found = drawn.find(script);
    if (found != drawn.end()) return std::optional(found->second);
    auto svg = draw_svg(plot);
    if (svg) drawn.emplace(script, *svg);
    return svg;
  };
}

// Writes what there is so far, so that a later scenario that fails or is interrupted costs only itself.
class Results {
 public:
  explicit Results(const Arguments& arguments) : arguments_(arguments) {}

  void add(ScenarioReport report) {
    reports_.push_back(std::move(report));
    std::fputs(as_text(reports_.back()).c_str(), stdout);
    std::fflush(stdout);
    if (arguments_.json.empty() && arguments_.html.empty()) return;
    const Machine machine = this_machine(arguments_.request.headrace);
    if (!arguments_.json.empty()) write_file(arguments_.json, as_json(reports_, machine));
    if (!arguments_.html.empty()) write_file(arguments_.html, as_html(reports_, machine, draw_));
  }

  const std::vector<ScenarioReport>& reports() const { return reports_; }

 private:
  const Arguments& arguments_;
  std::vector<ScenarioReport> reports_;
  Drawing draw_ = drawn_once();
};

void measure(const Arguments& arguments, const Scenario& scenario, Results& results) {
  std::fprintf(stderr, "%s: %s\n", scenario.name, scenario.says);
  ScenarioReport report = scenario.run(arguments.request);
  end_progress();
  report.title = scenario.says;
  results.add(std::move(report));
}

// When a scenario does not come to its end.
void say_what_was_written(const Arguments& arguments, const Scenario& broken_off,
                          const std::vector<ScenarioReport>& reports) {
  std::string names;
  for (const ScenarioReport& report : reports) names += (names.empty() ? "" : ", ") + report.name;
  std::fprintf(stderr, "%s did not come to its end; measured before it: %s\n", broken_off.name,
               names.empty() ? "nothing" : names.c_str());
  for (const auto& path : {arguments.json, arguments.html}) {
    if (path.empty()) continue;
    std::fprintf(stderr, "%s: %s\n", path.c_str(), names.empty() ? "not written" : "written up to there");
  }
}

int run(Arguments& arguments) {
  if (geteuid() != 0) throw std::runtime_error("needs root, to make network namespaces");
  if (arguments.request.headrace.empty()) arguments.request.headrace = program_of_this_build();
  check_writable(arguments.json);
  check_writable(arguments.html);
  Results results(arguments);
  for (const Scenario& one : chosen(arguments)) {
    try {
      measure(arguments, one, results);
    } catch (const std::exception&) {
      end_progress();
      say_what_was_written(arguments, one, results.reports());
      throw;
    }
  }
  const std::string unjudged = unjudged_says(results.reports());
  if (!unjudged.empty()) std::printf("\n%s\n", unjudged.c_str());
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
      std::fprintf(stderr, "headrace-bench: interrupted\n");
      return 130;
    }
    std::fprintf(stderr, "headrace-bench: %s\n", error.what());
    return 1;
  }
}
