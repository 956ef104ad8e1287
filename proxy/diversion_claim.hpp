// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "proxy/fd.hpp"

namespace headrace {

// The right to divert in this network namespace. One daemon has it at a time: a second would put its rules in
// the place of the first one's, and take them out when it ends. Goes with the process, however that ends.
class DiversionClaim {
 public:
  DiversionClaim();  // throws std::runtime_error when another process has it

 private:
  Fd socket_;
};

}  // namespace headrace
