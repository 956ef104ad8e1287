// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/parse_app.hpp"
#include "config/reader.hpp"
#include "config/settings.hpp"

// headrace.toml, one function a section. Forwards keep their legs as TOML until the profiles are known.
// Private to config/.
namespace headrace {

struct ForwardDraft {
  ForwardSettings settings;
  const TomlNode* client_leg = nullptr;  // into the tree that was parsed
  const TomlNode* server_leg = nullptr;
  AppDraft app;
};

struct PatternDraft {
  std::string pattern;
  Place place;
};

struct SettingsDraft {
  Settings settings;
  std::vector<ForwardDraft> forwards;
  std::vector<PatternDraft> policy_files;
  bool wrote_policy_files = false;
};

SettingsDraft parse_settings(const Source& source, const TomlTable& root);

}  // namespace headrace
