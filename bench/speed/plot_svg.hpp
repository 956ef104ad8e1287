// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>

#include "bench/speed/report.hpp"

namespace headrace::lab {

// The plot as commands and data for gnuplot 5, which writes an SVG to its standard output. Pure.
std::string gnuplot_script(const Plot& plot);

// Of what gnuplot wrote, the <svg> element alone, as it can stand inside a page. Empty when there is none.
// Pure.
std::string svg_element(std::string_view document);

// Has gnuplot draw it. Nothing where the program is missing or refuses.
std::optional<std::string> draw_svg(const Plot& plot);

}  // namespace headrace::lab
