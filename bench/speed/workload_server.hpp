// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "bench/lab/process.hpp"
#include "bench/speed/speed_lab.hpp"

namespace headrace::lab {

// A server of bench/workload, ready in the lab's server: "exchange-server", "messages-server". `congestion`
// is its listener's, so that it holds from the first connection on; empty: the kernel's default. Throws with
// what the program said when it doesn't get ready.
Process start_workload_server(const SpeedLab& lab, const std::string& which, const std::string& at,
                              const std::string& congestion = {});

}  // namespace headrace::lab
