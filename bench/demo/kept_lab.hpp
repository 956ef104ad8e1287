// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "bench/demo/demo_lab.hpp"

namespace headrace::lab {

// The one lab that `--keep` leaves behind: its namespaces are headrace-demo-client, -middle and -server, and
// kKeptLink points at its files, so that a later `--remove` finds everything without a note of its own.
inline constexpr const char* kKeptLab = "headrace-demo";
inline constexpr const char* kKeptLink = "/run/headrace-demo";

bool kept_lab_exists();
void note_kept_lab(const DemoLab& demo);
std::string how_to_use_kept_lab(const DemoLab& demo, const Programs& programs,
                                const std::string& remove_command);

// Ends every program in the kept namespaces (also shells that somebody opened there), removes them and the
// files. False when there was nothing.
bool remove_kept_lab();

}  // namespace headrace::lab
