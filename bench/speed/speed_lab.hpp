// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "bench/lab/inline_lab.hpp"
#include "bench/lab/temp_dir.hpp"

namespace headrace::lab {

// Enough destinations that no row runs out of ports: a proxy that picks its own holds each for 60 s
// (kernel-facts, "Cost").
inline constexpr int kServers = 16;
inline constexpr int kEchoPort = 7000, kBulkPort = 7001;
// Where explicit proxies listen in the middle: one port a server for echo, one for bulk.
inline constexpr int kFirstEchoRelay = 8000, kBulkRelay = 8100;

std::string server_address(int server);  // 0 is kServer4

// The standard lab over plain veth, with kServers server addresses and one congestion control for every leg.
// That comes from the routes (congctl, locked), so that it holds for programs that have no setting for it.
class SpeedLab {
 public:
  explicit SpeedLab(const std::string& congestion);

  TempDir dir;
  InlineLab net;
};

}  // namespace headrace::lab
