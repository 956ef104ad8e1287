// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "config/environment.hpp"
#include "config/reader.hpp"
#include "policy/leg_setting.hpp"

// Whether the settings of a leg can be had here: in this build, on this kernel, beside headrace's own marks.
// Private to config/; pure.
namespace headrace {

struct LegLimits {
  const Environment& environment;
  std::uint32_t reserved_mask;  // of intercept.mark
};

// Why the field's value cannot be had; empty when it can.
std::string why_not(const Profile& profile, const LegSetting& setting, const LegLimits& limits);

// Warnings about values that can be had and surprise people.
void advise(const Source& source, Place place, const Profile& profile, const Environment& environment);

}  // namespace headrace
