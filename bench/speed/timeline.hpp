// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

// How a transfer went over time, as a value. Pure.
namespace headrace::lab {

// By `at` (seconds since the connection was established) so many bytes had arrived.
struct Arrival {
  double at = 0;
  std::uint64_t bytes = 0;
};
using Timeline = std::vector<Arrival>;  // neither goes back

// What a link of that rate carries of payload when all segments are full: 1,460 of 1,500 bytes.
double payload_rate(std::uint64_t link_rate);

// Payload bit/s from established to the last byte.
double goodput(const Timeline& timeline);

// When the first window of `length` seconds begins that carries at least `rate` bit/s, in seconds after
// `from`; none begins before `from`. Nothing when there is none before the last byte.
std::optional<double> first_window(const Timeline& timeline, double from, double length, double rate);

// bit/s over time, in steps of `step` seconds: a curve of a plot.
std::vector<std::pair<double, double>> rate_over_time(const Timeline& timeline, double step);

}  // namespace headrace::lab
