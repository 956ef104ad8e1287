// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "bench/speed/report.hpp"

namespace headrace::lab {

// One group of bars: a metric of a row, under a name of few words.
struct Compared {
  std::string row, metric, label;
};

// Contenders beside each other as the report tells them (told()): ratios to the better peer, or counts.
// Groups and contenders that were not measured are left out; nothing when none was. Pure.
std::optional<Plot> compare(const ScenarioReport& report, const Plot& titled,
                            const std::vector<Compared>& groups, const std::vector<std::string>& contenders);

}  // namespace headrace::lab
