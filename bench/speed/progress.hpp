// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace headrace::lab {

// What is being done, on stderr: one line that is written over on a terminal, a line each elsewhere. From one
// thread at a time.
void show_progress(const std::string& what);
// Takes the line away, before something else is written.
void end_progress();

// "[ 1:05] what", cut to so many columns (0: not cut) at a whole UTF-8 character. Pure.
std::string progress_line(std::chrono::seconds since_start, std::string_view what, std::size_t columns);

}  // namespace headrace::lab
