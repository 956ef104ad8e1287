// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/commands/leg_storage.hpp"

#include <cap-ng.h>

#include <exception>

namespace headrace {
namespace {

// Nothing is loaded any more after the start.
void give_up_bpf() {
  if (capng_get_caps_process() != 0 || capng_have_capability(CAPNG_PERMITTED, CAP_BPF) == 0) return;
  capng_update(CAPNG_DROP, static_cast<capng_type_t>(CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_INHERITABLE),
               CAP_BPF);
  capng_apply(CAPNG_SELECT_CAPS);
}

}  // namespace

std::unique_ptr<const LegStorage> load_leg_storage(Environment& environment) {
  std::unique_ptr<const LegStorage> storage;
  try {
    storage = std::make_unique<const LegStorage>();
  } catch (const std::exception& error) {
    environment.no_leg_storage = error.what();
  }
  give_up_bpf();
  return storage;
}

}  // namespace headrace
