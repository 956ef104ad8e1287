// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/ratio_plot.hpp"

namespace headrace::lab {

std::optional<Plot> compare(const ScenarioReport& report, const Plot& titled,
                            const std::vector<Compared>& groups, const std::vector<std::string>& contenders) {
  Plot plot = titled;
  std::vector<const MetricReport*> metrics;
  for (const Compared& group : groups) {
    const MetricReport* metric = find(report, group.row, group.metric);
    if (metric == nullptr) continue;
    metrics.push_back(metric);
    plot.x_labels.push_back(group.label);
  }
  for (const std::string& contender : contenders) {
    Curve curve{contender, {}};
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      if (const auto value = told(report, *metrics[i], contender))
        curve.points.emplace_back(static_cast<double>(i), *value);
    }
    if (!curve.points.empty()) plot.curves.push_back(std::move(curve));
  }
  return plot.curves.empty() ? std::nullopt : std::optional(std::move(plot));
}

}  // namespace headrace::lab
