// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/leg_check.hpp"
#include "config/reader.hpp"
#include "policy/policy_table.hpp"

// Profiles by name, shipped and the user's, and the treatments made of them. Names are global and may be used
// before they are defined. Private to config/; lives for one load and borrows the parsed trees.
namespace headrace {

inline constexpr std::string_view kDefaultClientLeg = "wan-interactive";
inline constexpr std::string_view kDefaultServerLeg = "lan";
// The profile whose promise is that a burst takes one round trip.
inline constexpr std::string_view kBurstProfile = "wan-interactive";

// config/profiles.toml, as built into the program.
extern const std::string_view kShippedProfiles;
inline constexpr const char* kShippedFile = "(shipped) profiles.toml";

class Profiles {
 public:
  Profiles(LegLimits limits, std::vector<Problem>& problems, std::vector<Problem>& warnings);

  // All profiles of one file's [profile] table; `source` must outlive this.
  void define(const Source& source, const TomlTable& profiles);
  // After the last define().
  void resolve();

  // The treatment that a leg's value asks for: a name, a table, or nothing for the default. Empty after a
  // problem, which has been reported. `where` is for problems of a leg that is not written.
  SharedTreatment leg(const Source& source, const TomlNode* value, Side side, Place where);

  std::map<std::string, Profile> settings() const;
  // Only of tproxy sessions can the packet filter take options out of SYNs: legs made from now on are
  // others'.
  void no_stripping() { strips_ = false; }
  // Whether client legs made from now on can announce what their server does.
  void mirror_on_client_legs(bool possible) { mirrors_ = possible; }
  // Takes what shipped profiles lose here as warnings, of those in use or of all.
  void warn_of_losses(std::vector<Problem>& warnings, bool all) const;

 private:
  struct Named {
    Profile settings;
    std::string root;  // the profile it descends from, or itself
    bool shipped = false;
    bool used = false;
    std::vector<Problem> losses;
    SharedTreatment treatments[2];  // per side, made when first asked for
  };
  struct Draft {
    const Source* source;
    const TomlEntry* entry;
    std::string parent;
    const TomlNode* parent_node = nullptr;
  };

  void load_shipped(std::vector<Problem>& problems, std::vector<Problem>& warnings);
  void resolve(const std::string& name, const Draft& draft);
  const Profile* parent_of(const std::string& name, const Draft& draft, std::string& root);
  bool assign_keys(const Source& source, const TomlTable& table, std::string_view but, Profile& profile,
                   std::optional<Side> side);
  void assign_shipped(const Source& source, const std::string& name, const TomlTable& table);
  Named* find(const Source& source, Place place, const std::string& name);
  std::string_view wrong_on(Side side, const Profile& profile, const LegSetting& setting) const;
  bool fits(const Source& source, Place place, const Profile& settings, Side side) const;
  void warn_of_idle_restart(const Source& source, Place place, const std::string& name);
  SharedTreatment named_leg(const Source& source, Place place, const std::string& name, Side side);
  SharedTreatment inline_leg(const Source& source, const TomlNode& value, const TomlTable& table, Side side);
  void warn_of_bbr(const Source& source, Place place, const std::string& name, const Named& named,
                   const Profile& settings);

  void warn_of_stripping(const Source& source, Place place, const Profile& settings);

  LegLimits limits_;
  bool strips_ = true;
  bool mirrors_ = false;
  std::map<std::string, Named> named_;
  std::map<std::string, Named> replaced_;  // shipped ones that the user defined anew
  std::map<std::string, Draft> drafts_;
  std::set<std::string> broken_;  // defined, but wrongly: said once
  std::set<std::string> warned_;
};

}  // namespace headrace
