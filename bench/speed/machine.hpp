// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

#include "bench/speed/report.hpp"

namespace headrace::lab {

// This machine, now: kernel, processors, and the versions of the programs that were measured. A program that
// is missing has no version.
Machine this_machine(const std::filesystem::path& headrace);

}  // namespace headrace::lab
