// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/reader.hpp"
#include "config/settings.hpp"

// [intercept]: what is diverted to us, and with which marks and ports. Private to config/.
namespace headrace {

void parse_intercept(const Source& source, const TomlTable& table, InterceptSettings& into);

}  // namespace headrace
