// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>

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

// "pid 17, uid 0" of who has it in this network namespace; empty when nobody does.
std::optional<std::string> diversion_holder();

}  // namespace headrace
