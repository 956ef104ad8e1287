// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "bench/demo/measure.hpp"

namespace headrace::lab {

// Before and after, row by row. Either may lack rows; the report says so with a dash or null.
struct Comparison {
  std::vector<Measured> direct;
  std::vector<Measured> headrace;
  bool intact() const;
};

std::string as_table(const Comparison& comparison);

// {"link": {...}, "rows": [{"id", "title", "unit", "direct", "headrace", "ideal", "intact"}], "intact": bool}
std::string as_json(const Comparison& comparison);

}  // namespace headrace::lab
