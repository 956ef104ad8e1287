// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>
#include <string>
#include <variant>

#include "policy/leg_setting.hpp"
#include "proxy/commands/commands.hpp"

namespace headrace {

int print_features() {
  std::printf("headrace %s\nintercept: tproxy redirect off; firewall: nft iptables; forward\nleg settings:\n",
              HEADRACE_VERSION);
  for (const LegSetting& setting : leg_settings()) {
    const bool missing = std::holds_alternative<NotInThisBuild>(setting.how);
    std::printf("  %-22s %s\n", std::string{setting.key}.c_str(), missing ? "not in this build" : "yes");
  }
  return 0;
}

}  // namespace headrace
