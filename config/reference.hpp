// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

// The reference of leg settings and [kernel] keys as Markdown, rendered from their tables, so that it cannot
// differ from what the program does. Pure.
namespace headrace {

std::string render_leg_reference();     // docs/reference/leg-settings.md
std::string render_kernel_reference();  // docs/reference/kernel-settings.md

}  // namespace headrace
