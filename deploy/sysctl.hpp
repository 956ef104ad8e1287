// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

// Kernel settings under /proc/sys, of the calling thread's network namespace. Throws std::runtime_error
// "sysctl NAME: reason".
namespace headrace {

// Empty when this kernel or namespace has no such setting. Without the newline at its end.
std::optional<std::string> read_sysctl(const std::string& name);
void write_sysctl(const std::string& name, std::string_view value);

// The kernel separates numbers by tabs, people by spaces.
bool same_sysctl_value(std::string_view left, std::string_view right);

}  // namespace headrace
