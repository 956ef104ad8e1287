// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

namespace headrace::lab {

// Something to do that needs only a share of the machine: 1 is all of it, so that nothing else runs
// meanwhile.
struct Task {
  double share = 1;
  std::function<void()> run;  // in a thread of its own, at nice -15 with all that it starts
};

// Runs all of them, begun in their order, side by side as long as their shares add up to one at most. When
// one throws, no other begins, those that run are interrupted (bench/lab/handle.hpp), and the first exception
// is thrown on. The same when `is_over` says so, which is asked now and then: then with Interrupted.
void run_at_once(
    const std::vector<Task>& tasks, const std::function<bool()>& is_over = [] { return false; });

}  // namespace headrace::lab
