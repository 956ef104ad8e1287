// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "deploy/net_plan.hpp"

namespace headrace {

// "0x00480000", as nft, ip and iptables take marks and masks.
std::string print_hex(std::uint32_t value);

// The marks that server legs can carry, and of these the ones whose SYN goes without an option.
struct ServerMarks {
  std::set<std::uint32_t> all;
  std::set<std::uint32_t> without_timestamps;
  std::set<std::uint32_t> without_sack;
};
ServerMarks server_marks(const DiversionPlan& plan);

}  // namespace headrace
