// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/load.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <tuple>
#include <utility>

#include "config/check.hpp"
#include "config/files.hpp"
#include "config/parse_policies.hpp"
#include "config/parse_settings.hpp"
#include "config/profiles.hpp"
#include "config/reader.hpp"
#include "config/toml_source.hpp"

namespace headrace {
namespace {

void sort_by_place(std::vector<Problem>& problems) {
  std::stable_sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.where.file, a.where.line, a.where.column) <
           std::tie(b.where.file, b.where.line, b.where.column);
  });
}

// One load: texts in, a Configuration or all problems out. The parsed trees live as long as it does.
class Loader {
 public:
  explicit Loader(const Environment& environment) : environment_{environment} {}

  void add_main(const std::string& file, std::string_view text) {
    configuration_.file = file;
    main_.emplace(parse(file, text));
    if (main_->root) draft_ = parse_settings(main_->source, *main_->root);
  }

  void add_policy_file(const std::string& file, std::string_view text) {
    configuration_.policy_files.push_back(file);
    policy_files_.push_back(parse(file, text));
  }

  void add_fault(const std::string& file, Place place, std::string text) {
    problems_.push_back({{file, place.line, place.column}, std::move(text)});
  }

  void add_warning(const std::string& file, Place place, std::string text) {
    warnings_.push_back({{file, place.line, place.column}, std::move(text)});
  }

  const SettingsDraft& draft() const { return draft_; }

  Configuration finish();

 private:
  struct File {
    Source source;
    std::unique_ptr<TomlNode> tree;
    const TomlTable* root = nullptr;  // none when the text is no TOML
  };

  File parse(const std::string& file, std::string_view text);
  void apply_kernel_settings();
  void read_policies(Profiles& profiles);
  void read_forwards(Profiles& profiles);

  Environment environment_;
  std::vector<Problem> problems_;
  std::vector<Problem> warnings_;
  std::optional<File> main_;
  SettingsDraft draft_;
  std::deque<File> policy_files_;
  Configuration configuration_;
};

Loader::File Loader::parse(const std::string& file, std::string_view text) {
  File parsed{Source{file, problems_, warnings_}, nullptr, nullptr};
  // An editor that truncates and then writes leaves such a file for a moment; it must not be taken for "all
  // defaults". A comment is enough to mean it.
  if (text.find_first_not_of(" \t\r\n") == text.npos) {
    parsed.source.error({}, "the file is empty (a comment is enough to mean it)");
    return parsed;
  }
  auto result = parse_toml(text);
  if (const auto* fault = std::get_if<TomlFault>(&result)) {
    parsed.source.error(fault->place, fault->text);
    return parsed;
  }
  parsed.tree = std::make_unique<TomlNode>(std::move(std::get<TomlNode>(result)));
  parsed.root = &std::get<TomlTable>(parsed.tree->value);
  return parsed;
}

void Loader::read_policies(Profiles& profiles) {
  Groups groups;
  std::vector<std::pair<const Source*, std::vector<const TomlNode*>>> policies;
  for (const File& file : policy_files_) {
    if (file.root == nullptr) continue;
    TableReader reader{file.source, *file.root, ""};
    if (const TomlTable* table = reader.take_table("group")) groups.define(file.source, *table);
    if (const TomlTable* table = reader.take_table("profile")) profiles.define(file.source, *table);
    policies.emplace_back(&file.source, reader.take_tables("policy"));
  }
  profiles.resolve();
  if (draft_.settings.intercept.mode != InterceptMode::tproxy) profiles.no_stripping();
  PolicyReader reader{groups, profiles, draft_.settings.intercept, environment_.no_syn_queue};
  for (const auto& [source, nodes] : policies) {
    for (const TomlNode* node : nodes) reader.read(*source, *node);
  }
  for (ForwardDraft& forward : draft_.forwards) {
    if (const TomlNode* name = forward.app.data_policy)
      forward.settings.data = reader.data_policy(main_->source, "forward.data_policy", *name);
  }
  configuration_.policies = std::make_shared<const PolicyTable>(reader.take());
}

void Loader::read_forwards(Profiles& profiles) {
  profiles.no_stripping();
  profiles.mirror_on_client_legs(false);
  for (ForwardDraft& forward : draft_.forwards) {
    const Place place{forward.settings.where.line, forward.settings.where.column};
    forward.settings.client_leg = profiles.leg(main_->source, forward.client_leg, Side::client, place);
    forward.settings.server_leg = profiles.leg(main_->source, forward.server_leg, Side::server, place);
    const bool treated = forward.settings.client_leg && forward.settings.server_leg;
    if (forward.app.ftp && forward.app.data_policy == nullptr && treated)
      forward.settings.data = data_decisions(decision_of(forward.settings));
    draft_.settings.forwards.push_back(forward.settings);
  }
}

// What [kernel] will set counts, not what the host has before.
void Loader::apply_kernel_settings() {
  const auto limit = [&](const char* sysctl, std::optional<Bytes>& into) {
    const auto found = draft_.settings.kernel.find(sysctl);
    if (found != draft_.settings.kernel.end()) into = Bytes{*parse_number(found->second, 0, UINT64_MAX)};
  };
  limit("net.core.rmem_max", environment_.receive_limit);
  limit("net.core.wmem_max", environment_.send_limit);
  const auto flag = [&](const char* sysctl, std::optional<bool>& into) {
    const auto found = draft_.settings.kernel.find(sysctl);
    if (found != draft_.settings.kernel.end()) into = found->second != "0";
  };
  flag("net.ipv4.tcp_timestamps", environment_.timestamps);
  flag("net.ipv4.tcp_sack", environment_.sack);
  flag("net.ipv4.tcp_slow_start_after_idle", environment_.slow_start_after_idle);
}

Configuration Loader::finish() {
  apply_kernel_settings();
  Profiles profiles{LegLimits{environment_, draft_.settings.intercept.mark.mask}, problems_, warnings_};
  read_policies(profiles);
  read_forwards(profiles);
  configuration_.settings = draft_.settings;
  configuration_.profiles = profiles.settings();
  profiles.warn_of_losses(warnings_, false);
  check_whole(configuration_, problems_, warnings_);
  sort_by_place(problems_);
  sort_by_place(warnings_);
  if (!problems_.empty()) throw ConfigError{std::move(problems_)};
  configuration_.warnings = std::move(warnings_);
  return std::move(configuration_);
}

void add_found(Loader& loader, const std::string& main_file, const PatternDraft& pattern,
               std::vector<std::string>& files) {
  const Found found = find_files(main_file, pattern.pattern);
  const std::string key = "policy_files: ";
  if (found.missing_directory && !loader.draft().wrote_policy_files) {
    loader.add_warning(main_file, {},
                       key + "no directory for \"" + pattern.pattern + "\": intercepts nothing");
  } else if (!found.fault.empty()) {
    loader.add_fault(main_file, pattern.place, key + found.fault);
  } else if (found.files.empty()) {
    loader.add_warning(main_file, pattern.place,
                       key + "no file matches \"" + pattern.pattern + "\": intercepts nothing");
  }
  for (const std::string& file : found.files) {
    // Two patterns may name the same file; its policies count once, where they came first.
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  }
}

}  // namespace

std::string print(const Problem& problem) {
  std::string place = problem.where.file;
  if (problem.where.line != 0) {
    place += ":" + std::to_string(problem.where.line) + ":" + std::to_string(problem.where.column);
  }
  return place + ": " + problem.text;
}

ConfigError::ConfigError(std::vector<Problem> problems) : problems_{std::move(problems)} {
  for (const Problem& problem : problems_) what_ += (what_.empty() ? "" : "\n") + print(problem);
}

Configuration load_configuration(const std::string& file, const Environment& environment) {
  Loader loader{environment};
  const auto main_text = read_config_file(file);
  if (const auto* fault = std::get_if<FileFault>(&main_text))
    throw ConfigError{{{{file, 0, 0}, fault->text}}};
  loader.add_main(file, std::get<std::string>(main_text));
  std::vector<std::string> files;
  for (const PatternDraft& pattern : loader.draft().policy_files) add_found(loader, file, pattern, files);
  for (const std::string& policy_file : files) {
    const auto text = read_config_file(policy_file);
    if (const auto* fault = std::get_if<FileFault>(&text)) {
      loader.add_fault(policy_file, {}, fault->text);
    } else {
      loader.add_policy_file(policy_file, std::get<std::string>(text));
    }
  }
  return loader.finish();
}

Configuration load_configuration(const std::string& file) {
  return load_configuration(file, this_environment());
}

Settings salvage_settings(const std::string& file) {
  Loader loader{this_environment()};
  const auto text = read_config_file(file);
  if (const auto* good = std::get_if<std::string>(&text)) loader.add_main(file, *good);
  return loader.draft().settings;
}

Configuration load_configuration_text(const std::vector<ConfigText>& texts, const Environment& environment) {
  Loader loader{environment};
  if (texts.empty()) throw ConfigError{{{{"(none)", 0, 0}, "no configuration"}}};
  loader.add_main(texts.front().file, texts.front().text);
  for (std::size_t i = 1; i < texts.size(); ++i) loader.add_policy_file(texts[i].file, texts[i].text);
  return loader.finish();
}

std::map<std::string, Profile> shipped_profiles(const Environment& environment,
                                                std::vector<Problem>& warnings) {
  std::vector<Problem> problems;
  const Profiles profiles{LegLimits{environment, MarkAndMask{}.mask}, problems, warnings};
  if (!problems.empty()) throw ConfigError{std::move(problems)};
  profiles.warn_of_losses(warnings, true);
  return profiles.settings();
}

std::map<std::string, Profile> shipped_profiles(std::vector<Problem>& warnings) {
  return shipped_profiles(this_environment(), warnings);
}

}  // namespace headrace
