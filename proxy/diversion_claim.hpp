// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/socket.h>

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

// Who has it in this network namespace. Any local user can bind the name, so a holder may be no daemon.
struct DiversionHolder {
  std::optional<ucred> process;  // none: the kernel does not say, since too many have asked before
};
std::string print(const DiversionHolder& holder);   // "pid 17, uid 0"
std::optional<DiversionHolder> diversion_holder();  // empty when nobody has it

}  // namespace headrace
