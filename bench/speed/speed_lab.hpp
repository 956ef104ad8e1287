// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/lab/inline_lab.hpp"
#include "bench/lab/temp_dir.hpp"

namespace headrace::lab {

std::string server_address(int server);  // 0 is kServer4

// A service of the server: where it is, and where in the middle an explicit proxy relays it from.
struct Service {
  std::string name;  // a word
  std::string at, to;
};

// What a row's labs are like, and what the programs in the middle are told there.
struct LabSpec {
  // Of every leg, by route and locked, so that it holds for programs that have no setting for it. Empty: what
  // each end, and each profile, sets for itself.
  std::string congestion;
  InlineLabSettings net = {};
  int servers = 1;  // addresses of the server
  std::vector<Service> services;
  std::string policies;                                // headrace's policy file
  std::function<void(const InlineLab&)> prepare = {};  // what its hosts are besides; before anything runs
};

enum class Host { client, middle, server };

// By route, for every connection of that host from then on, whatever its programs ask for. `metrics`: more of
// the routes' metrics, such as "initcwnd 2".
void lock_congestion(const InlineLab& net, Host host, const std::string& name,
                     const std::string& metrics = "");

// The standard lab as a row wants it.
class SpeedLab {
 public:
  explicit SpeedLab(const LabSpec& spec);

  const Service& service(const std::string& name) const;  // throws std::out_of_range

  const LabSpec& spec;  // outlives the lab
  TempDir dir;
  InlineLab net;
};

}  // namespace headrace::lab
