// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/reference.hpp"

#include <fstream>
#include <sstream>

#include "policy/leg_setting.hpp"
#include "tests/test.hpp"

using namespace headrace;

namespace {

std::string page(const std::string& name) {
  std::ifstream in{HEADRACE_SOURCE_DIR "/docs/reference/" + name};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("reference: the pages that are checked in are what the tables render (else: ninja reference)") {
  CHECK(page("leg-settings.md") == render_leg_reference());
  CHECK(page("kernel-settings.md") == render_kernel_reference());
}

TEST_CASE("reference: every leg setting has its entry") {
  const std::string text = render_leg_reference();
  for (const LegSetting& setting : leg_settings()) {
    CHECK_THAT(text, Catch::Contains("## `" + std::string{setting.key} + "`"));
  }
}
