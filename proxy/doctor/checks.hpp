// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/load.hpp"
#include "proxy/doctor/facts.hpp"

// What the facts mean for headrace: one table of checks, each a pure function of the host's facts and of the
// configuration. A new check is one function and one row.
namespace headrace::doctor {

enum class Status : std::uint8_t { ok, warn, fail };
std::string_view print(Status status);  // "ok", "warn", "fail": the words of --json

struct Finding {
  std::string name;
  Status status = Status::ok;
  std::string text;
  std::string mend;  // a command or a line of the configuration; empty where nothing needs mending
};

// What a check sees. The configuration is there unless the row says that the check does without.
struct Subject {
  const Facts& facts;
  const Configuration* configuration = nullptr;

  const Settings& settings() const { return configuration->settings; }
  const InterceptSettings& intercept() const { return configuration->settings.intercept; }
};

enum class Needs : std::uint8_t { host, configuration };

struct Check {
  std::string_view name;
  Needs needs;
  Finding (*judge)(const Subject&);  // leaves the name to the table
};

std::span<const Check> checks();

// Every check that can be made, in the order of the table.
std::vector<Finding> examine(const Subject& subject);
bool all_well(const std::vector<Finding>& findings);  // none is FAIL
// "FAIL rp_filter: what is wrong. Mend: COMMAND"
std::string print(const Finding& finding);

}  // namespace headrace::doctor
