// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <net/if.h>

#include <string>

#include "bench/lab/namespace.hpp"

namespace headrace {

// A link-local address as seen from one host: "fe80::1%3", by the index of its interface there.
inline std::string scoped(const std::string& address, const lab::Namespace& where,
                          const std::string& device) {
  return address + "%" + std::to_string(where.run([&] { return ::if_nametoindex(device.c_str()); }));
}

}  // namespace headrace
