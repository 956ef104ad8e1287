// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/netns/daemon.hpp"

namespace headrace {

// What `headrace doctor --json` says in the middle of the lab.
class Diagnosis {
 public:
  explicit Diagnosis(const Daemon& daemon, const std::vector<std::string>& more = {});

  int exit_status() const { return exit_status_; }
  const nlohmann::json& json() const { return json_; }
  // "FAIL NAME: TEXT. Mend: MEND", as a person would read it; empty when there is no such check.
  std::string line(const std::string& check) const;
  std::string all() const;  // every line that is not ok
  bool fails(const std::string& check) const { return status(check) == "fail"; }
  bool warns(const std::string& check) const { return status(check) == "warn"; }
  bool is_fine(const std::string& check) const { return status(check) == "ok"; }

 private:
  std::string status(const std::string& check) const;

  int exit_status_ = -1;
  nlohmann::json json_;
};

// A policy for IPv4 and IPv6 servers on the profile that has no opinion.
DaemonSettings plain_settings();

}  // namespace headrace
