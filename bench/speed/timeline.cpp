// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/timeline.hpp"

#include <algorithm>

namespace headrace::lab {
namespace {

constexpr double kBits = 8;
constexpr double kGrid = 0.01;  // seconds between the windows that are looked at

// Arrived before `at`: a window that begins with an arrival has all of it.
double bytes_before(const Timeline& timeline, double at) {
  const auto after = std::lower_bound(timeline.begin(), timeline.end(), at,
                                      [](const Arrival& one, double time) { return one.at < time; });
  return after == timeline.begin() ? 0 : static_cast<double>(std::prev(after)->bytes);
}

}  // namespace

double payload_rate(std::uint64_t link_rate) { return static_cast<double>(link_rate) * 1460 / 1500; }

double goodput(const Timeline& timeline) {
  if (timeline.empty() || timeline.back().at <= 0) return 0;
  return static_cast<double>(timeline.back().bytes) * kBits / timeline.back().at;
}

std::optional<double> first_window(const Timeline& timeline, double from, double length, double rate) {
  if (timeline.empty()) return std::nullopt;
  for (int i = 0; from + i * kGrid + length <= timeline.back().at; ++i) {
    const double begin = from + i * kGrid;
    const double bytes = bytes_before(timeline, begin + length) - bytes_before(timeline, begin);
    if (bytes * kBits >= rate * length) return begin - from;
  }
  return std::nullopt;
}

std::vector<std::pair<double, double>> rate_over_time(const Timeline& timeline, double step) {
  std::vector<std::pair<double, double>> curve;
  if (timeline.empty()) return curve;
  for (int i = 0; i * step < timeline.back().at; ++i) {
    const double bytes = bytes_before(timeline, (i + 1) * step) - bytes_before(timeline, i * step);
    curve.emplace_back((i + 0.5) * step, bytes * kBits / step);
  }
  return curve;
}

}  // namespace headrace::lab
