// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>
#include <nlohmann/json.hpp>

#include "config/load.hpp"
#include "policy/listener_class.hpp"
#include "proxy/commands/commands.hpp"

namespace headrace {
namespace {

using nlohmann::ordered_json;

template <class Item>
std::vector<std::string> texts(const std::vector<Item>& items) {
  std::vector<std::string> out;
  for (const Item& item : items) out.push_back(print(item));
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ",") + word;
  return out.empty() ? "any" : out;
}

ordered_json to_json(const Policy& policy, const std::optional<std::size_t>& group) {
  ordered_json json = {{"name", policy.decision.policy},
                       {"file", policy.where.file},
                       {"line", policy.where.line},
                       {"from", texts(policy.match.from)},
                       {"to", texts(policy.match.to)},
                       {"ports", texts(policy.match.ports)},
                       {"action", print(policy.decision.action)}};
  if (!group) return json;
  json["listener_class"] = *group;
  json["connect_as"] = print(policy.decision.connect_as);
  json["client_leg"] = policy.decision.client_leg->profile;
  json["server_leg"] = policy.decision.server_leg->profile;
  if (policy.decision.data) {
    json["app"] = "ftp";
    json["data_policy"] = policy.decision.data->passive.policy;
  }
  return json;
}

void print_line(std::size_t number, const Policy& policy, const std::optional<std::size_t>& group) {
  const Decision& decision = policy.decision;
  const std::string legs = group ? decision.client_leg->profile + "/" + decision.server_leg->profile +
                                       " class " + std::to_string(*group)
                                 : "bypass";
  const std::string data = decision.data ? " app ftp, data " + decision.data->passive.policy : "";
  std::printf("%4zu  %-20s %s -> %s ports %s: %s%s\n", number, decision.policy.c_str(),
              joined(texts(policy.match.from)).c_str(),
              policy.match.to.empty() ? "nothing" : joined(texts(policy.match.to)).c_str(),
              joined(texts(policy.match.ports)).c_str(), legs.c_str(), data.c_str());
}

}  // namespace

int run_policies(const std::string& file, bool json) {
  const Configuration configuration = load_configuration(file);
  const auto& policies = configuration.policies->policies();
  const ListenerClasses classes = group_into_classes(*configuration.policies);
  ordered_json list = ordered_json::array();
  for (std::size_t i = 0; i < policies.size(); ++i) {
    if (json)
      list.push_back(to_json(policies[i], classes.of_policy[i]));
    else
      print_line(i + 1, policies[i], classes.of_policy[i]);
  }
  if (json) std::printf("%s\n", list.dump(2).c_str());
  return 0;
}

}  // namespace headrace
