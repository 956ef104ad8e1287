// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "deploy/net_plan.hpp"

// Policies and settings written as people would, for tests of what becomes of them.
namespace headrace::given {

std::vector<Prefix> prefixes(const std::vector<std::string>& texts);  // "any" is both families

struct PolicyText {
  std::vector<std::string> from;
  std::vector<std::string> to;
  std::vector<std::string> ports;
  std::string take = "plain";  // the name of a listener class, or "bypass"
  bool verified = false;
};

// Owns all that a DiversionPlan refers to. Intercepts on eth0 with nft unless changed.
struct Host {
  explicit Host(const std::vector<PolicyText>& policies);
  DiversionPlan plan() const { return {settings, table, classes, ports, diversion, ipv6}; }

  Settings settings;
  PolicyTable table;
  ListenerClasses classes;
  ClassPorts ports;  // 18500 and on
  Diversion diversion = Diversion::on;
  bool ipv6 = true;
};

}  // namespace headrace::given
