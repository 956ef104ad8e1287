// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/speed/report.hpp"

namespace headrace::lab {

// Text as it can stand in an element or a quoted attribute. Pure.
std::string escaped(std::string_view text);

using Drawing = std::function<std::optional<std::string>(const Plot&)>;  // an <svg> element, or nothing

// All reports as one page that needs no other file and no network: first the answer (one line and one plot a
// scenario), then each scenario in full. Where `draw` gives nothing the page says so and does without. Pure
// but for `draw`.
std::string as_html(const std::vector<ScenarioReport>& reports, const Machine& machine, const Drawing& draw);

}  // namespace headrace::lab
