// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/parse_app.hpp"
#include "config/profiles.hpp"
#include "config/reader.hpp"
#include "config/settings.hpp"
#include "policy/policy_table.hpp"

// Policy files: groups and policies. Private to config/; lives for one load and borrows the parsed trees.
namespace headrace {

// [group], over all files: name -> prefixes.
class Groups {
 public:
  void define(const Source& source, const TomlTable& groups);
  // Appends the group's prefixes; reports a name that nobody defined.
  void expand(const Source& source, Place place, std::string_view key, const std::string& name,
              std::vector<Prefix>& into) const;

 private:
  struct Group {
    std::vector<Prefix> prefixes;
    SourceLocation where;
  };
  std::map<std::string, Group> groups_;
};

class PolicyReader {
 public:
  PolicyReader(const Groups& groups, Profiles& profiles, const InterceptSettings& intercept,
               const std::function<std::string(Firewall)>& no_syn_queue)
      : groups_{groups}, profiles_{profiles}, intercept_{intercept}, no_syn_queue_{no_syn_queue} {}

  void read(const Source& source, const TomlNode& node);
  // After the last read(): what data_policy names, for a forwarder. Empty after a problem, which has been
  // reported.
  std::shared_ptr<const DataDecisions> data_policy(const Source& source, std::string_view key,
                                                   const TomlNode& name);
  // All of them, once everything that may name one has.
  std::vector<Policy> take();

 private:
  static void warn_of_mirror(const Source& source, Place place, const Policy& policy);
  void read_name(const Source& source, TableReader& reader, Place place, Policy& policy);
  std::vector<Prefix> prefixes(const Source& source, TableReader& reader, std::string_view key) const;
  static std::vector<PortRange> ports(TableReader& reader);
  void read_connect_as(TableReader& reader, Decision& decision) const;
  void read_accept(TableReader& reader, Decision& decision);
  std::string why_not_verified();
  void read_legs(const Source& source, TableReader& reader, Place place, Decision& decision);

  // What can be judged only when all policies are known, of the one at `at` in policies_.
  struct Later {
    const Source* source;
    const TomlNode* node;
    std::size_t at;
  };

  AppDraft read_app(TableReader& reader, const Decision& decision);
  static void missing_to(const Source& source, Place place, const std::string& name);

  const Groups& groups_;
  Profiles& profiles_;
  std::vector<Later> apps_;        // `node` is the data_policy; none: the policy itself
  std::vector<Later> without_to_;  // `node` is the policy
  std::set<std::string> named_;    // as data_policy
  const InterceptSettings& intercept_;
  const std::function<std::string(Firewall)>& no_syn_queue_;
  std::optional<std::string> why_not_verified_;  // asked once
  std::vector<Policy> policies_;
  std::map<std::string, SourceLocation> names_;
};

}  // namespace headrace
