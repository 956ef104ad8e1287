// SPDX-License-Identifier: GPL-3.0-or-later
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "config/load.hpp"
#include "proxy/commands/commands.hpp"
#include "proxy/doctor/checks.hpp"
#include "proxy/doctor/facts.hpp"

namespace headrace {
namespace {

using nlohmann::ordered_json;

// The configuration, or why there is none; either is the first line of the report.
std::optional<Configuration> load(const std::string& file, doctor::Finding& finding) {
  finding.name = "configuration";
  if (::access(file.c_str(), R_OK) != 0) {
    finding.status = doctor::Status::warn;
    finding.text = file + " can't be read: only the host is checked";
    finding.mend = "headrace doctor -c FILE";
    return std::nullopt;
  }
  try {
    Configuration configuration = load_configuration(file);
    finding.text = file + ": " + std::to_string(configuration.policies->policies().size()) + " policies";
    return configuration;
  } catch (const ConfigError& error) {
    finding.status = doctor::Status::fail;
    finding.text = print(error.problems().front()) + ": only the host is checked";
    finding.mend = "headrace check -c " + file;
    return std::nullopt;
  }
}

void print_json(const std::vector<doctor::Finding>& findings) {
  ordered_json list = ordered_json::array();
  for (const doctor::Finding& one : findings)
    list.push_back(
        {{"name", one.name}, {"status", print(one.status)}, {"text", one.text}, {"mend", one.mend}});
  const ordered_json json{{"ok", doctor::all_well(findings)}, {"checks", list}};
  std::printf("%s\n", json.dump(2, ' ', false, ordered_json::error_handler_t::replace).c_str());
}

}  // namespace

int run_doctor(const std::string& file, const DoctorRequest& request) {
  std::vector<doctor::Finding> findings(1);
  const auto configuration = load(file, findings.front());
  const Configuration* known = configuration ? &*configuration : nullptr;
  doctor::Facts facts = doctor::read_host(known);
  if (request.client) facts.probe = doctor::read_probe(*request.client, *request.to);
  for (doctor::Finding& one : doctor::examine({facts, known})) findings.push_back(std::move(one));
  if (request.json) {
    print_json(findings);
  } else {
    for (const doctor::Finding& one : findings) std::printf("%s\n", print(one).c_str());
  }
  return doctor::all_well(findings) ? 0 : 1;
}

}  // namespace headrace
