// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/commands/commands.hpp"
#include "proxy/server.hpp"

namespace headrace {

int run_daemon(const std::string& file) {
  Server server{std::make_shared<const Configuration>(load_configuration(file)), {}};
  server.run();
  return 0;
}

}  // namespace headrace
