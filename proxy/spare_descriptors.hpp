// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "proxy/fd.hpp"

namespace headrace {

// Descriptors kept back for the moment in which there are no others: with one given up, a connection can be
// taken from an accept queue and reset. Shared by all listeners, any thread: what one gives up another thread
// may snatch, and then the next does. No session is to begin before refill() is true, or the last would go
// so.
class SpareDescriptors {
 public:
  SpareDescriptors() { refill(); }

  // Takes back what is missing. False while some is.
  bool refill();
  // False when there is none left.
  bool give_up_one();

 private:
  std::mutex mutex_;
  std::vector<Fd> spares_;
};

}  // namespace headrace
