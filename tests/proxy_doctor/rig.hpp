// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ostream>
#include <string>

#include "proxy/doctor/checks.hpp"

// A host on which everything is as it should be, for tests to spoil.
namespace headrace::doctor {

inline std::ostream& operator<<(std::ostream& out, Status status) { return out << print(status); }

struct Host {
  Facts facts;
  Configuration configuration;

  Host();
  // Reads other text; `main` stands before [intercept], `intercept` is its whole.
  void configure(const std::string& policies, const std::string& intercept = "interfaces = [\"wan0\"]\n",
                 const std::string& main = "", const std::string& more = "");
  void chain(const std::string& tool, const std::string& table, const std::string& hook, int priority,
             const std::vector<std::string>& rules, const std::string& policy = "accept");

  Finding judged(const std::string& check) const;        // with the configuration
  Finding judged_alone(const std::string& check) const;  // without
  Status status(const std::string& check) const { return judged(check).status; }
};

inline constexpr const char* kPolicy = "[[policy]]\nname = \"all\"\nto = [\"198.18.2.0/24\"]\n";

}  // namespace headrace::doctor
