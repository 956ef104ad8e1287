// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "bench/speed/turns.hpp"

namespace headrace::lab {

// The rows of the scenario `lan`; its contenders and bars are in lan.cpp.
std::vector<Row> lan_rows();

}  // namespace headrace::lab
