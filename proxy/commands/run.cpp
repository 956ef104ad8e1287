// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/net_apply.hpp"
#include "proxy/commands/commands.hpp"
#include "proxy/commands/leg_storage.hpp"
#include "proxy/server.hpp"

namespace headrace {

int run_daemon(const std::string& file) {
  Environment environment = this_environment();
  environment.no_syn_queue = why_no_syn_queue;
  std::unique_ptr<const LegStorage> storage = load_leg_storage(environment);
  auto configuration = std::make_shared<const Configuration>(load_configuration(file, environment));
  Server server{std::move(configuration), std::move(environment), std::move(storage), {}};
  server.run();
  return 0;
}

}  // namespace headrace
