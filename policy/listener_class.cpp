// SPDX-License-Identifier: GPL-3.0-or-later
#include "policy/listener_class.hpp"

#include <unordered_map>

namespace headrace {

std::string handshake_key(const Profile& profile) {
  std::string key;
  for (const LegSetting& setting : leg_settings()) {
    if (setting.phase != Phase::handshake || is_kernel_default(profile, setting)) continue;
    if (!wrong_side(profile, setting, Side::client).empty()) continue;  // a shipped profile on the other leg
    if (!key.empty()) key += ' ';
    std::string value = print_value(profile, setting);
    std::erase(value, '"');
    key.append(setting.key).append("=").append(value);
  }
  return key;
}

ListenerClasses group_into_classes(const PolicyTable& table) {
  ListenerClasses grouped;
  std::unordered_map<std::string, std::size_t> by_key;
  std::unordered_map<const LegTreatment*, std::string> keys;  // policies share treatments: render each once
  const auto& policies = table.policies();
  grouped.of_policy.resize(policies.size());
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const Decision& decision = policies[i].decision;
    if (decision.action == Action::bypass) continue;
    const LegTreatment* treatment = decision.client_leg.get();
    auto& key = keys[treatment];
    if (key.empty()) key = handshake_key(treatment->settings);
    const auto [at, is_new] = by_key.try_emplace(key, grouped.classes.size());
    if (is_new) grouped.classes.push_back({treatment->settings, key, {}});
    grouped.classes[at->second].policies.push_back(i);
    grouped.of_policy[i] = at->second;
  }
  return grouped;
}

}  // namespace headrace
