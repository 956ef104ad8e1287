// SPDX-License-Identifier: GPL-3.0-or-later
// Writes docs/reference: `render_reference DIRECTORY`. Run by the target `reference` after a row has changed.
#include <fstream>
#include <iostream>

#include "config/reference.hpp"

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: render_reference DIRECTORY\n";
    return 2;
  }
  const std::string directory = arguments[1];
  std::ofstream legs{directory + "/leg-settings.md"};
  std::ofstream kernel{directory + "/kernel-settings.md"};
  legs << headrace::render_leg_reference();
  kernel << headrace::render_kernel_reference();
  legs.close();
  kernel.close();
  return legs && kernel ? 0 : 1;
}
