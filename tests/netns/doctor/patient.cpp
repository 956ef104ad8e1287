// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/doctor/patient.hpp"

#include <algorithm>

namespace headrace {
namespace {

std::string print(const nlohmann::json& check) {
  std::string line = check.at("status").get<std::string>() + " " + check.at("name").get<std::string>() +
                     ": " + check.at("text").get<std::string>();
  const auto mend = check.at("mend").get<std::string>();
  return mend.empty() ? line : line + ". Mend: " + mend;
}

const nlohmann::json* find(const nlohmann::json& json, const std::string& check) {
  for (const auto& one : json.at("checks")) {
    if (one.at("name") == check) return &one;
  }
  return nullptr;
}

}  // namespace

Diagnosis::Diagnosis(const Daemon& daemon, const std::vector<std::string>& more) {
  std::vector<std::string> words{"doctor", "--json"};
  words.insert(words.end(), more.begin(), more.end());
  const auto outcome = daemon.try_command(words);
  exit_status_ = outcome.status;
  json_ = nlohmann::json::parse(outcome.output);
}

std::string Diagnosis::status(const std::string& check) const {
  const auto* found = find(json_, check);
  return found == nullptr ? std::string{"absent"} : found->at("status").get<std::string>();
}

std::string Diagnosis::line(const std::string& check) const {
  const auto* found = find(json_, check);
  return found == nullptr ? std::string{} : print(*found);
}

std::string Diagnosis::all() const {
  std::string text;
  for (const auto& one : json_.at("checks")) {
    if (one.at("status") != "ok") text += print(one) + "\n";
  }
  return text;
}

DaemonSettings plain_settings() {
  DaemonSettings settings;
  settings.policies =
      "[[policy]]\nname = \"all\"\nto = [\"198.18.2.0/24\", \"2001:db8:2::/64\"]\n"
      "client_leg = \"plain\"\nserver_leg = \"plain\"\n";
  return settings;
}

}  // namespace headrace
