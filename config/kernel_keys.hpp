// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "config/reader.hpp"
#include "config/settings.hpp"

// [kernel]: the namespace-wide sysctls that a configuration may name, one row each.
namespace headrace {

struct KernelKey {
  enum class Kind : std::uint8_t {
    level,   // a number of the range, or true/false for 1/0 where the range begins at 0
    number,  // a number of the range
    bytes,   // a size with a unit
    triple,  // three rising sizes: least, default, most
  };
  std::string_view key;
  std::string_view sysctl;  // the full name
  Kind kind;
  std::uint64_t low;
  std::uint64_t high;
  std::string_view says;
};

std::span<const KernelKey> kernel_keys();

// "keep" takes a key out of `into`: the host's value stays.
void parse_kernel(const Source& source, const TomlTable& table, KernelSettings& into);

}  // namespace headrace
