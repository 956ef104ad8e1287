// SPDX-License-Identifier: GPL-3.0-or-later
#include "policy/listener_class.hpp"

#include <unordered_map>
#include <utility>

namespace headrace {

std::string handshake_key(const Profile& profile) {
  std::string key;
  for (const LegSetting& setting : leg_settings()) {
    if (setting.phase != Phase::handshake || is_kernel_default(profile, setting)) continue;
    if (!key.empty()) key += ' ';
    std::string value = print_value(profile, setting);
    std::erase(value, '"');
    key.append(setting.key).append("=").append(value);
  }
  return key;
}

namespace {

class Grouping {
 public:
  // The class of the leg that a policy accepts.
  std::size_t add(const LegTreatment& accepted, std::size_t policy) {
    auto& key = keys_[&accepted];
    if (key.empty()) key = handshake_key(accepted.settings);
    const auto [at, is_new] = by_key_.try_emplace(key, classes.size());
    if (is_new) classes.push_back({accepted.settings, key, {}});
    auto& policies = classes[at->second].policies;
    if (policies.empty() || policies.back() != policy) policies.push_back(policy);
    return at->second;
  }

  std::vector<ListenerClass> classes;

 private:
  std::unordered_map<std::string, std::size_t> by_key_;
  std::unordered_map<const LegTreatment*, std::string> keys_;  // policies share treatments: render each once
};

}  // namespace

ListenerClasses group_into_classes(const PolicyTable& table) {
  Grouping grouping;
  std::vector<std::optional<std::size_t>> of_policy(table.policies().size());
  for (std::size_t i = 0; i < of_policy.size(); ++i) {
    const Decision& decision = table.policies()[i].decision;
    if (decision.action == Action::bypass) continue;
    of_policy[i] = grouping.add(*decision.client_leg, i);
    if (!decision.data) continue;
    grouping.add(*decision.data->passive.client_leg, i);
    grouping.add(*decision.data->active.client_leg, i);
  }
  return {std::move(grouping.classes), std::move(of_policy)};
}

}  // namespace headrace
