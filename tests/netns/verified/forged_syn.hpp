// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "bench/lab/namespace.hpp"

namespace headrace {

// Sends a bare SYN (IPv4) with whatever source address: "198.18.1.77:4000" -> "198.18.2.2:5000".
void send_forged_syn(const lab::Namespace& where, const std::string& from, const std::string& to,
                     std::uint32_t sequence = 1);

}  // namespace headrace
