// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>
#include <nlohmann/json.hpp>

#include "config/load.hpp"
#include "proxy/admin.hpp"
#include "proxy/commands/commands.hpp"
#include "proxy/diversion.hpp"

namespace headrace {
namespace {

int bypass_without_daemon(const Settings& settings, const std::string& verb) {
  const BypassFile file{settings.admin.state_directory + "/bypass"};
  if (verb != "status") file.set(verb == "on");
  std::printf("bypass %s (no daemon runs: nothing is intercepted)\n", file.is_on() ? "on" : "off");
  return 0;
}

int report(const nlohmann::json& status) {
  const bool on = status.value("bypass", false);
  std::printf("bypass %s: new flows %s; %zu live sessions go on\n", on ? "on" : "off",
              status.value("takes_new_flows", false) ? "are taken" : "go straight to the server",
              status.value("sessions", std::size_t{0}));
  return 0;
}

}  // namespace

int run_bypass(const std::string& file, const std::string& verb) {
  const Settings settings = salvage_settings(file);
  const AdminSettings& admin = settings.admin;
  if (!admin_answers(admin.socket)) return bypass_without_daemon(settings, verb);
  return report(nlohmann::json::parse(admin_request(admin.socket, "bypass", verb)));
}

}  // namespace headrace
