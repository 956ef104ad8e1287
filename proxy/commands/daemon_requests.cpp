// SPDX-License-Identifier: GPL-3.0-or-later
// status, reload and drain: what the command line asks of the running daemon and prints of its answer.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "config/load.hpp"
#include "proxy/admin.hpp"
#include "proxy/commands/commands.hpp"

namespace headrace {
namespace {

nlohmann::ordered_json ask(const std::string& file, const std::string& verb) {
  return nlohmann::ordered_json::parse(admin_request(salvage_settings(file).admin.socket, verb, ""));
}

}  // namespace

int run_status(const std::string& file, bool json) {
  const auto status = ask(file, "status");
  if (json) {
    std::printf("%s\n", status.dump(2).c_str());
    return 0;
  }
  for (const auto& [key, value] : status.items()) {
    if (!value.is_structured()) std::printf("%-16s %s\n", key.c_str(), value.dump().c_str());
  }
  for (const auto& [key, value] : status["counters"].items()) {
    if (!value.is_structured()) std::printf("%-16s %s\n", key.c_str(), value.dump().c_str());
  }
  for (const auto& [reason, count] : status["counters"]["closed"].items())
    std::printf("closed.%-16s %s\n", reason.c_str(), count.dump().c_str());
  return status.value("draining", false) ? 1 : 0;
}

int run_reload(const std::string& file) {
  const auto answer = ask(file, "reload");
  for (const auto& warning : answer["warnings"])
    std::fprintf(stderr, "headrace: warning: %s\n", warning.get<std::string>().c_str());
  std::printf("reloaded\n");
  return 0;
}

int run_drain(const std::string& file) {
  ask(file, "drain");
  std::printf("draining: new flows go straight to the server, the daemon ends with its last session\n");
  return 0;
}

}  // namespace headrace
