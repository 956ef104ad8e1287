// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/profiles.hpp"

#include <optional>

namespace headrace {
namespace {

std::string quoted(std::string_view text) { return "\"" + std::string{text.substr(0, 80)} + "\""; }

std::string_view label(Side side) { return side == Side::client ? "client_leg" : "server_leg"; }

// What a key of a leg can hold; empty for arrays, tables and the like.
std::optional<RawValue> raw_value(const TomlNode& node) {
  if (const auto* flag = std::get_if<bool>(&node.value)) return *flag;
  if (const auto* number = std::get_if<std::int64_t>(&node.value)) return *number;
  if (const auto* text = std::get_if<std::string>(&node.value)) return *text;
  return std::nullopt;
}

std::set<std::string> leg_keys(std::string_view besides) {
  std::set<std::string> keys{std::string{besides}};
  for (const LegSetting& setting : leg_settings()) keys.emplace(setting.key);
  return keys;
}

// Assigns one key; says what is wrong with the value itself.
const LegSetting* assign_key(const Source& source, const TomlEntry& entry, std::string_view besides,
                             Profile& profile) {
  const LegSetting* setting = find_leg_setting(entry.key);
  if (setting == nullptr) {
    source.error(entry.place, unknown("key", entry.key, leg_keys(besides)));
    return nullptr;
  }
  const auto raw = raw_value(entry.node);
  const auto assigned = raw ? assign(profile, *setting, *raw)
                            : Parsed<std::monostate>{Complaint{describe(entry.node) + " is not accepted (" +
                                                               accepted(*setting) + ")"}};
  if (assigned) return setting;
  source.error(entry.node.place, entry.key + ": " + assigned.complaint());
  return nullptr;
}

}  // namespace

Profiles::Profiles(LegLimits limits, std::vector<Problem>& problems, std::vector<Problem>& warnings)
    : limits_{limits} {
  load_shipped(problems, warnings);
}

void Profiles::load_shipped(std::vector<Problem>& problems, std::vector<Problem>& warnings) {
  const Source source{kShippedFile, problems, warnings};
  const auto parsed = parse_toml(kShippedProfiles);
  if (const auto* fault = std::get_if<TomlFault>(&parsed)) return source.error(fault->place, fault->text);
  TableReader reader{source, std::get<TomlTable>(std::get<TomlNode>(parsed).value), ""};
  const TomlTable* profiles = reader.take_table("profile");
  if (profiles == nullptr) return;
  for (const TomlEntry& entry : *profiles) {
    assign_shipped(source, entry.key, std::get<TomlTable>(entry.node.value));
  }
}

// What cannot be had here is left out, and what is lost is kept for whoever uses the profile.
void Profiles::assign_shipped(const Source& source, const std::string& name, const TomlTable& table) {
  Named& named = named_[name];
  named.root = name;
  named.shipped = true;
  for (const TomlEntry& entry : table) {
    const LegSetting* setting = assign_key(source, entry, "inherits", named.settings);
    if (setting == nullptr) continue;
    const std::string why = why_not(named.settings, *setting, limits_);
    if (why.empty()) continue;
    named.losses.push_back({source.at(entry.place), "profile " + quoted(name) + ": " + entry.key + " = " +
                                                        print_value(named.settings, *setting) +
                                                        " is left out: " + why});
    reset(named.settings, *setting);
  }
}

void Profiles::define(const Source& source, const TomlTable& profiles) {
  for (const TomlEntry& entry : profiles) {
    if (!is_name(entry.key)) {
      source.error(entry.place,
                   "profile: " + quoted(entry.key) + " is no name (" + std::string{kNameAccepted} + ")");
    } else if (!std::holds_alternative<TomlTable>(entry.node.value)) {
      source.error(entry.node.place,
                   "profile: " + describe(entry.node) + " is not accepted (a table, [profile.NAME])");
    } else if (const auto first = drafts_.find(entry.key); first != drafts_.end()) {
      source.error(entry.place, "profile " + quoted(entry.key) + " is defined already (" +
                                    brief(first->second.source->at(first->second.entry->place)) + ")");
    } else {
      Draft draft{&source, &entry, {}};
      for (const TomlEntry& key : std::get<TomlTable>(entry.node.value)) {
        const auto* parent = std::get_if<std::string>(&key.node.value);
        if (key.key != "inherits") continue;
        draft.parent_node = &key.node;
        if (parent != nullptr) draft.parent = *parent;
      }
      drafts_.emplace(entry.key, draft);
    }
  }
}

void Profiles::resolve() {
  for (const auto& [name, draft] : drafts_) {
    const auto shipped = named_.find(name);
    if (shipped != named_.end()) replaced_.insert(named_.extract(shipped));
  }
  // Parents first: they have no parent of their own.
  for (const auto& [name, draft] : drafts_) {
    if (draft.parent_node == nullptr) resolve(name, draft);
  }
  for (const auto& [name, draft] : drafts_) {
    if (draft.parent_node != nullptr) resolve(name, draft);
  }
}

void Profiles::resolve(const std::string& name, const Draft& draft) {
  Named named;
  named.root = name;
  bool good = true;
  if (draft.parent_node != nullptr) {
    const Profile* parent = parent_of(name, draft, named.root);
    if (parent != nullptr) named.settings = *parent;
    good = parent != nullptr;
  }
  const auto& table = std::get<TomlTable>(draft.entry->node.value);
  good = assign_keys(*draft.source, table, "inherits", named.settings, std::nullopt) && good;
  if (!good) {
    broken_.insert(name);
    return;
  }
  advise(*draft.source, draft.entry->place, named.settings, limits_.environment);
  named_.insert_or_assign(name, std::move(named));
}

const Profile* Profiles::parent_of(const std::string& name, const Draft& draft, std::string& root) {
  const Place place = draft.parent_node->place;
  const auto refuse = [&](const std::string& what) {
    draft.source->error(place, "inherits: " + what);
    return nullptr;
  };
  if (draft.parent.empty())
    return refuse(describe(*draft.parent_node) + " is not accepted (one profile's name)");
  if (draft.parent == name) {
    // Extending what ships under the same name is not a loop.
    const auto shipped = replaced_.find(name);
    if (shipped == replaced_.end()) return refuse("a profile cannot inherit from itself");
    shipped->second.used = true;
    root = name;
    return &shipped->second.settings;
  }
  if (const auto other = drafts_.find(draft.parent);
      other != drafts_.end() && other->second.parent_node != nullptr) {
    return refuse(quoted(draft.parent) + " inherits as well, from " + quoted(other->second.parent) +
                  " (one level, one parent)");
  }
  Named* parent = find(*draft.source, place, draft.parent);
  if (parent == nullptr) return nullptr;
  parent->used = true;
  root = parent->root;
  return &parent->settings;
}

bool Profiles::assign_keys(const Source& source, const TomlTable& table, std::string_view but,
                           Profile& profile, std::optional<Side> side) {
  const std::size_t before = source.errors();
  for (const TomlEntry& entry : table) {
    if (entry.key == but) continue;
    const LegSetting* setting = assign_key(source, entry, but, profile);
    if (setting == nullptr) continue;
    if (const auto wrong = side ? wrong_on(*side, profile, *setting) : std::string_view{}; !wrong.empty()) {
      source.error(entry.node.place, entry.key + ": " + std::string{wrong});
    } else if (const auto why = why_not(profile, *setting, limits_); !why.empty()) {
      source.error(entry.node.place,
                   entry.key + ": " + print_value(profile, *setting) + " cannot be had: " + why);
    }
  }
  return source.errors() == before;
}

Profiles::Named* Profiles::find(const Source& source, Place place, const std::string& name) {
  const auto found = named_.find(name);
  if (found != named_.end()) return &found->second;
  if (broken_.contains(name)) return nullptr;
  std::set<std::string> known;
  for (const auto& [candidate, named] : named_) known.insert(candidate);
  source.error(place, unknown("profile", name, known));
  return nullptr;
}

SharedTreatment Profiles::leg(const Source& source, const TomlNode* value, Side side, Place where) {
  if (value == nullptr) {
    return named_leg(source, where, std::string{side == Side::client ? kDefaultClientLeg : kDefaultServerLeg},
                     side);
  }
  if (const auto* name = std::get_if<std::string>(&value->value))
    return named_leg(source, value->place, *name, side);
  if (const auto* table = std::get_if<TomlTable>(&value->value))
    return inline_leg(source, *value, *table, side);
  source.error(value->place,
               std::string{label(side)} + ": " + describe(*value) +
                   R"( is not accepted (a profile's name, or { profile = "...", key = value }))");
  return nullptr;
}

std::string_view Profiles::wrong_on(Side side, const Profile& profile, const LegSetting& setting) const {
  return mirrors_ ? std::string_view{} : wrong_side(profile, setting, side);
}

bool Profiles::fits(const Source& source, Place place, const Profile& settings, Side side) const {
  const std::size_t before = source.errors();
  for (const LegSetting& setting : leg_settings()) {
    if (const auto wrong = wrong_on(side, settings, setting); !wrong.empty())
      source.error(place,
                   std::string{label(side)} + ": " + std::string{setting.key} + ": " + std::string{wrong});
  }
  return source.errors() == before;
}

SharedTreatment Profiles::named_leg(const Source& source, Place place, const std::string& name, Side side) {
  Named* named = find(source, place, name);
  if (named == nullptr) return nullptr;
  named->used = true;
  if (!named->shipped && !fits(source, place, named->settings, side)) return nullptr;
  if (side == Side::client) warn_of_bbr(source, place, name, *named, named->settings);
  warn_of_stripping(source, place, named->settings);
  SharedTreatment& made = named->treatments[side == Side::client ? 0 : 1];
  if (!made) made = make_treatment(name, named->settings, side);
  return made;
}

SharedTreatment Profiles::inline_leg(const Source& source, const TomlNode& value, const TomlTable& table,
                                     Side side) {
  std::string name{side == Side::client ? kDefaultClientLeg : kDefaultServerLeg};
  Place place = value.place;
  for (const TomlEntry& entry : table) {
    if (entry.key != "profile") continue;
    place = entry.node.place;
    const auto* text = std::get_if<std::string>(&entry.node.value);
    if (text == nullptr) {
      source.error(place, "profile: " + describe(entry.node) + " is not accepted (one profile's name)");
      return nullptr;
    }
    name = *text;
  }
  Named* named = find(source, place, name);
  Profile settings = named == nullptr ? Profile{} : named->settings;
  if (!assign_keys(source, table, "profile", settings, side) || named == nullptr) return nullptr;
  named->used = true;
  if (side == Side::client) warn_of_bbr(source, place, name, *named, settings);
  warn_of_stripping(source, value.place, settings);
  advise(source, value.place, settings, limits_.environment);
  const bool overrides = settings != named->settings;
  return make_treatment(overrides ? name + "+" : name, settings, side);
}

// Measured: on a bbr leg an answer of 50,000 bytes takes 1.5 round trips for ever, on cubic one.
void Profiles::warn_of_bbr(const Source& source, Place place, const std::string& name, const Named& named,
                           const Profile& settings) {
  if (named.root != kBurstProfile && !settings.initial_window) return;
  warn_of_idle_restart(source, place, name);
  if (named.root != kBurstProfile) return;
  const std::string& congestion =
      settings.congestion ? settings.congestion->name : limits_.environment.default_congestion;
  if (!congestion.starts_with("bbr") || !warned_.insert(name).second) return;
  source.warn(place, "profile " + quoted(name) + " is for bursts in one round trip, and congestion control " +
                         quoted(congestion) + " paces them over 1.5 (congestion = \"cubic\")");
}

void Profiles::warn_of_stripping(const Source& source, Place place, const Profile& settings) {
  if (strips_ || (settings.timestamps.value_or(true) && settings.sack.value_or(true))) return;
  source.warn(place,
              "timestamps and sack stay as they are here (only sessions of intercept.mode = \"tproxy\" can "
              "go without)");
}

// Measured: with the sysctl on, a burst after a pause starts from the route's initial window again.
void Profiles::warn_of_idle_restart(const Source& source, Place place, const std::string& name) {
  if (!limits_.environment.slow_start_after_idle.value_or(false) || !warned_.insert("idle").second) return;
  source.warn(place, "profile " + quoted(name) +
                         " asks for bursts in one round trip; after each pause they take more, since "
                         "net.ipv4.tcp_slow_start_after_idle is 1 (kernel.slow_start_after_idle = false)");
}

std::map<std::string, Profile> Profiles::settings() const {
  std::map<std::string, Profile> all;
  for (const auto& [name, named] : named_) all.emplace(name, named.settings);
  return all;
}

void Profiles::warn_of_losses(std::vector<Problem>& warnings, bool all) const {
  for (const auto* names : {&named_, &replaced_}) {
    for (const auto& [name, named] : *names) {
      if (all || named.used) warnings.insert(warnings.end(), named.losses.begin(), named.losses.end());
    }
  }
}

}  // namespace headrace
