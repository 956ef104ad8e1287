// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>
#include <nlohmann/json.hpp>

#include "config/environment.hpp"
#include "config/load.hpp"
#include "deploy/net_apply.hpp"
#include "policy/listener_class.hpp"
#include "proxy/commands/commands.hpp"
#include "proxy/leg_storage.hpp"

namespace headrace {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const std::vector<Problem>& problems) {
  ordered_json list = ordered_json::array();
  for (const Problem& problem : problems)
    list.push_back({{"file", problem.where.file},
                    {"line", problem.where.line},
                    {"column", problem.where.column},
                    {"text", problem.text}});
  return list;
}

void print_json(const ordered_json& json) {
  std::printf("%s\n", json.dump(2, ' ', false, ordered_json::error_handler_t::replace).c_str());
}

int report_good(const Configuration& configuration, bool json) {
  const auto& policies = *configuration.policies;
  const std::size_t classes = group_into_classes(policies).classes.size();
  if (json) {
    print_json({{"ok", true},
                {"problems", ordered_json::array()},
                {"warnings", to_json(configuration.warnings)},
                {"policies", policies.policies().size()},
                {"listener_classes", classes}});
    return 0;
  }
  for (const Problem& warning : configuration.warnings)
    std::fprintf(stderr, "headrace: warning: %s\n", print(warning).c_str());
  std::printf("%s is good: %zu policies in %zu listener classes from %zu files\n", configuration.file.c_str(),
              policies.policies().size(), classes, configuration.policy_files.size());
  return 0;
}

}  // namespace

int run_check(const std::string& file, bool json) {
  Environment environment = this_environment();
  environment.no_leg_storage = LegStorage::why_not();
  environment.no_syn_queue = why_no_syn_queue;
  try {
    return report_good(load_configuration(file, environment), json);
  } catch (const ConfigError& error) {
    if (!json) throw;
    print_json({{"ok", false}, {"problems", to_json(error.problems())}, {"warnings", ordered_json::array()}});
    return 1;
  }
}

}  // namespace headrace
