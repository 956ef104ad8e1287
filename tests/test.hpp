// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
// The one file that includes Catch2, so that Catch2 3 is a change here and in tests/main.cpp only.
#include <catch2/catch.hpp>
