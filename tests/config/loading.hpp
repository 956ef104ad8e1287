// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "config/load.hpp"

// Loading from text against a kernel that the test chooses.
namespace headrace::testing {

inline Environment new_kernel() {
  Environment environment;
  environment.kernel = {6, 18};
  environment.congestion_controls = {"reno", "bbr", "cubic"};
  environment.default_congestion = "cubic";
  return environment;
}

inline Configuration load(const std::string& settings, const std::string& policies = "# none\n",
                          const Environment& environment = new_kernel()) {
  return load_configuration_text({{"headrace.toml", settings}, {"10-test.toml", policies}}, environment);
}

// The problems or, when there is none, the warnings, as printed.
inline std::vector<std::string> printed(const std::vector<Problem>& problems) {
  std::vector<std::string> lines;
  for (const Problem& problem : problems) lines.push_back(print(problem));
  return lines;
}

inline std::vector<std::string> problems_of(const std::vector<ConfigText>& texts,
                                            const Environment& environment = new_kernel()) {
  try {
    load_configuration_text(texts, environment);
  } catch (const ConfigError& error) {
    return printed(error.problems());
  }
  return {};
}

inline std::vector<std::string> problems_of(const std::string& settings,
                                            const std::string& policies = "# none\n",
                                            const Environment& environment = new_kernel()) {
  return problems_of(std::vector<ConfigText>{{"headrace.toml", settings}, {"10-test.toml", policies}},
                     environment);
}

inline std::vector<std::string> warnings_of(const std::string& settings,
                                            const std::string& policies = "# none\n",
                                            const Environment& environment = new_kernel()) {
  return printed(load(settings, policies, environment).warnings);
}

// A policy to which a test adds lines.
inline std::string policy(const std::string& lines) {
  return "[[policy]]\nname = \"p\"\nto = [\"198.18.9.5\"]\n" + lines;
}

}  // namespace headrace::testing
