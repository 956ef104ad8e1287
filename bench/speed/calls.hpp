// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::lab {

using CallCounts = std::map<std::string, double>;  // by the system call's name

// The system calls that the processes made while `action` ran, counted by strace (which slows them down: take
// no times meanwhile). Throws when strace cannot attach.
CallCounts count_calls(const std::vector<pid_t>& pids, const std::function<void()>& action);

CallCounts parse_call_counts(std::string_view table);  // of `strace -c -U name,calls`

// What a relay does with calls: the sums over the calls that do the same.
struct CallSums {
  double wait = 0;  // epoll_wait and its kind
  double receive = 0;
  double send = 0;
  double setsockopt = 0;
  double splice = 0;
  double other = 0;
};
CallSums sum_up(const CallCounts& counts);

}  // namespace headrace::lab
