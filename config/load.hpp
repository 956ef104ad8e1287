// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/environment.hpp"
#include "config/settings.hpp"
#include "policy/policy_table.hpp"

// Turns headrace.toml and its policy files into finished values, all or nothing: every problem found is
// in the exception, and nothing of a bad set of files is used. Control zone: throws, reads files, never logs.
namespace headrace {

struct Problem {
  SourceLocation where;  // line and column from 1; 0 when the file itself is the problem
  std::string text;      // what is wrong (what is accepted)
};

std::string print(const Problem& problem);  // "FILE:LINE:COL: text"

class ConfigError : public std::exception {
 public:
  explicit ConfigError(std::vector<Problem> problems);
  const std::vector<Problem>& problems() const { return problems_; }
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::vector<Problem> problems_;
  std::string what_;
};

struct Configuration {
  std::string file;
  std::vector<std::string> policy_files;  // in the order in which they were read
  Settings settings;
  std::shared_ptr<const PolicyTable> policies;
  std::map<std::string, Profile> profiles;  // shipped and user's, resolved
  std::vector<Problem> warnings;
};

// Throws ConfigError. Reads nothing but `file`, what its policy_files names and, without an environment
// given, that of this host.
Configuration load_configuration(const std::string& file);
Configuration load_configuration(const std::string& file, const Environment& environment);

// The daemon's settings from as much of `file` as can be understood, defaults for the rest: for the commands
// that take headrace out of the path or ask it something. They must not wait until a policy is mended.
Settings salvage_settings(const std::string& file);

// load_configuration from text: the first is headrace.toml (its policy_files is not followed), the others are
// policy files in their order. For tests and fuzzing.
struct ConfigText {
  std::string file;
  std::string text;
};
Configuration load_configuration_text(const std::vector<ConfigText>& texts, const Environment& environment);

// The profiles that ship inside the program (config/profiles.toml), resolved; warnings for what this
// build or kernel cannot do are appended.
std::map<std::string, Profile> shipped_profiles(std::vector<Problem>& warnings);
std::map<std::string, Profile> shipped_profiles(const Environment& environment,
                                                std::vector<Problem>& warnings);

}  // namespace headrace
