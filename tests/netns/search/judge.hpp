// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "tests/netns/search/play.hpp"

namespace headrace {

// What no connection may do, direct or not: the first thing that was wrong, or nothing. Bytes arrive in order
// and whole, unless an end resets: then a first part of them. An end in order is heard as one, a reset never
// is; the last mark arrives where it was, the others there or not at all. Pure.
std::string what_is_wrong(const Script& script, const Played& played);

}  // namespace headrace
