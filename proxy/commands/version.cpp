// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>
#include <string>
#include <variant>

#include "policy/leg_setting.hpp"
#include "proxy/commands/commands.hpp"
#include "proxy/leg_storage.hpp"

namespace headrace {

int print_features() {
  std::printf("headrace %s\nintercept: tproxy redirect off; firewall: nft iptables; forward\nleg settings:\n",
              HEADRACE_VERSION);
  const std::string no_storage = LegStorage::why_not();
  for (const LegSetting& setting : leg_settings()) {
    const bool missing = std::holds_alternative<InStorage>(setting.how) && !no_storage.empty();
    std::printf("  %-22s %s\n", std::string{setting.key}.c_str(),
                missing ? ("no: " + no_storage).c_str() : "yes");
  }
  return 0;
}

}  // namespace headrace
