// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace headrace {

// "0x00480000", as nft, ip and iptables take marks and masks.
std::string print_hex(std::uint32_t value);

}  // namespace headrace
