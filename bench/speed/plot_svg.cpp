// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/plot_svg.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <sstream>

#include "bench/lab/spawn.hpp"

namespace headrace::lab {
namespace {

constexpr double kGroupWidth = 0.8;      // of the room that each label has, for its bars
constexpr std::size_t kMostMarked = 60;  // points; of more only the line is drawn
constexpr std::size_t kManyLabels = 6;   // more stand aslant

// gnuplot's single quotes know one escape, for themselves; nothing in them is expanded.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + "'";
}

// A point that cannot be drawn (no number; not above zero on a logarithmic axis) would end gnuplot.
bool can_draw(const Plot& plot, const std::pair<double, double>& point) {
  const auto& [x, y] = point;
  return std::isfinite(x) && std::isfinite(y) && (!plot.log_x || x > 0) && (!plot.log_y || y > 0);
}

std::string data_block(const Plot& plot, std::size_t number) {
  const double bars = static_cast<double>(plot.curves.size());
  const double shift =
      plot.x_labels.empty() ? 0 : (static_cast<double>(number) - (bars - 1) / 2) * kGroupWidth / bars;
  std::ostringstream out;
  out.precision(9);
  out << "$c" << number << " << EOD\n";
  for (const auto& point : plot.curves[number].points) {
    if (can_draw(plot, point)) out << point.first + shift << " " << point.second << "\n";
  }
  out << "EOD\n";
  return out.str();
}

bool has_points(const Plot& plot, const Curve& curve) {
  return std::any_of(curve.points.begin(), curve.points.end(),
                     [&](const auto& point) { return can_draw(plot, point); });
}

std::string style(const Plot& plot, const Curve& curve) {
  std::ostringstream out;
  if (!plot.x_labels.empty()) {
    out << ":(" << kGroupWidth / static_cast<double>(plot.curves.size()) << ") with boxes fs solid 0.75";
  } else {
    out << (curve.points.size() > kMostMarked ? " with lines lw 1.6"
                                              : " with linespoints lw 1.6 pt 7 ps 0.5");
  }
  return out.str();
}

void axes(std::ostream& out, const Plot& plot) {
  out << "set xlabel " << quoted(plot.x_title) << "\nset ylabel " << quoted(plot.y_title) << "\n";
  if (plot.log_x) out << "set logscale x\n";
  out << (plot.log_y ? "set logscale y\n" : "set yrange [0:*]\n");
  if (plot.x_labels.empty()) return;
  out << "set xrange [-0.6:" << static_cast<double>(plot.x_labels.size()) - 0.4 << "]\nset xtics scale 0"
      << (plot.x_labels.size() > kManyLabels ? " rotate by -25" : "") << " (";
  for (std::size_t i = 0; i < plot.x_labels.size(); ++i)
    out << (i > 0 ? ", " : "") << quoted(plot.x_labels[i]) << " " << i;
  out << ")\n";
}

}  // namespace

std::string gnuplot_script(const Plot& plot) {
  std::ostringstream out;
  out << "set terminal svg size 760,400 dynamic noenhanced font 'sans-serif,13'\n"
      << "set encoding utf8\nset border 3\nset tics nomirror\nset grid ytics lc rgb '#9a9a9a' lw 0.4\n"
      << "set key outside top center horizontal\n";
  axes(out, plot);
  for (std::size_t i = 0; i < plot.curves.size(); ++i) out << data_block(plot, i);
  std::string drawn;
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    const Curve& curve = plot.curves[i];
    if (!has_points(plot, curve)) continue;
    drawn += (drawn.empty() ? "plot $c" : ", $c") + std::to_string(i) + " using 1:2" + style(plot, curve) +
             " lt " + std::to_string(i + 1) +
             (curve.title.empty() ? " notitle" : " title " + quoted(curve.title));
  }
  out << drawn << "\n";
  return out.str();
}

std::string svg_element(std::string_view document) {
  const auto first = document.find("<svg");
  const auto last = document.rfind("</svg>");
  if (first == document.npos || last == document.npos || last < first) return {};
  return std::string(document.substr(first, last + 6 - first));
}

std::optional<std::string> draw_svg(const Plot& plot) {
  try {
    std::string svg = svg_element(run_command({"gnuplot"}, -1, gnuplot_script(plot)));
    return svg.empty() ? std::nullopt : std::optional(std::move(svg));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace headrace::lab
