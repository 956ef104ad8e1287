// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/address.hpp"
#include "policy/policy_table.hpp"

// The metrics of a route (initcwnd, initrwnd, quickack) that do what a leg asks for, where its peer has a
// route of its own: without BPF the only way to an initial window, and one system call a read less than
// quickack = "always". They hold for every connection by that route, so they are offered and never set. Pure.
namespace headrace {

struct HostRoute {
  Prefix to;
  std::string text;  // what `ip route change` takes to leave it as it is
};

// Whether any policy's leg asks for what a route's metrics can do.
bool asks_for_route_metrics(const PolicyTable& policies);

// Of `ip -o route show`: unicast routes to a prefix of their own, in the kernel's order. The default route is
// nobody's own, and what a router advertised is not ours to keep.
std::vector<HostRoute> read_routes(std::string_view text);

// Comments for `net show`, a command each route; empty when no policy asks for any of it.
std::string route_metrics(const PolicyTable& policies, const std::vector<HostRoute>& routes);

}  // namespace headrace
