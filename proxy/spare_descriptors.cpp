// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/spare_descriptors.hpp"

#include <fcntl.h>

namespace headrace {
namespace {

constexpr std::size_t kSpares = 8;

}  // namespace

bool SpareDescriptors::refill() {
  const std::lock_guard lock{mutex_};
  while (spares_.size() < kSpares) {
    Fd spare{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    if (!spare) return false;
    spares_.push_back(std::move(spare));
  }
  return true;
}

bool SpareDescriptors::give_up_one() {
  const std::lock_guard lock{mutex_};
  if (spares_.empty()) return false;
  spares_.pop_back();
  return true;
}

}  // namespace headrace
