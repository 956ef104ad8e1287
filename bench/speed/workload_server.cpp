// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/workload_server.hpp"

#include <chrono>
#include <stdexcept>

namespace headrace::lab {

using namespace std::chrono_literals;

Process start_workload_server(const SpeedLab& lab, const std::string& which, const std::string& at,
                              const std::string& congestion) {
  std::vector<std::string> argv{HEADRACE_WORKLOAD_PROGRAM, which, at};
  if (!congestion.empty()) argv.insert(argv.end(), {"--congestion", congestion});
  Process server(lab.net.server, argv);
  if (!server.wait_for_output("ready", 10s)) throw std::runtime_error(which + ": " + server.output());
  return server;
}

}  // namespace headrace::lab
