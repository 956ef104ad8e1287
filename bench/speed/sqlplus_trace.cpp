// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "bench/speed/sqlplus_rows.hpp"

namespace headrace::lab {
namespace {

using namespace std::chrono_literals;

constexpr auto kDrawn = 40ms;
constexpr std::size_t kDrawnAnswer = 50'000;
constexpr const char* kFirstPage = "moderated";  // the story's own server comes first

}  // namespace

bool SqlplusTrace::is_drawn(const SqlplusCase& one) {
  return one.rtt == kDrawn && one.answer == kDrawnAnswer;
}

bool SqlplusTrace::is_drawn_as_sequence(const SqlplusCase& one, const std::string& contender) {
  return is_drawn(one) && one.server.id == kFirstPage && (contender == "direct" || contender == "headrace");
}

void SqlplusTrace::keep_trips(const SqlplusCase& one, const std::string& contender,
                              const std::vector<double>& trips) {
  const std::lock_guard lock(mutex_);
  const std::string id = "trips_" + one.id();
  auto plot = std::find_if(trips_.begin(), trips_.end(), [&](const Plot& known) { return known.id == id; });
  if (plot == trips_.end()) {
    plot = trips_.insert(one.server.id == kFirstPage ? trips_.begin() : trips_.end(), Plot{});
    plot->id = id;
    plot->title = one.title() + ": the first, those back to back, those after 0.5 s of silence";
    plot->x_title = "exchange";
    plot->y_title = "round trips";
  }
  const auto same = [&](const Curve& curve) { return curve.title == contender; };
  if (std::any_of(plot->curves.begin(), plot->curves.end(), same)) return;
  Curve curve{contender, {}};
  for (std::size_t n = 0; n < trips.size(); ++n) curve.points.emplace_back(n + 1, trips[n]);
  plot->curves.push_back(std::move(curve));
}

void SqlplusTrace::keep_sequence(const std::string& title, std::vector<std::pair<double, double>> points) {
  const std::lock_guard lock(mutex_);
  sequences_.try_emplace(title, Curve{title, std::move(points)});
}

std::vector<Plot> SqlplusTrace::plots() const {
  std::vector<Plot> all = trips_;
  for (Plot& plot : all) {
    std::sort(plot.curves.begin(), plot.curves.end(),
              [](const Curve& left, const Curve& right) { return left.title < right.title; });
  }
  if (sequences_.empty()) return all;
  Plot sequence;
  sequence.id = "sequence";
  sequence.title = "One answer of 50,000 bytes as it reaches the client, RTT 40 ms, moderated server";
  sequence.x_title = "ms after the request";
  sequence.y_title = "kB of the answer";
  for (const auto& [title, curve] : sequences_) sequence.curves.push_back(curve);
  all.push_back(std::move(sequence));
  return all;
}

}  // namespace headrace::lab
