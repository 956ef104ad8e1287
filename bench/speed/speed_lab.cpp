// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/speed_lab.hpp"

#include <stdexcept>

namespace headrace::lab {
namespace {

constexpr int kFirstMoreHost = 10;  // 198.18.2.10 and up

struct HostRoutes {
  const Namespace& where;
  const char* one;
  const char* other;
};

HostRoutes routes_of(const InlineLab& net, Host host) {
  switch (host) {
    case Host::client:
      return {net.client, "198.18.1.0/24 dev eth0 src 198.18.1.2", "default via 198.18.1.1"};
    case Host::server:
      return {net.server, "198.18.2.0/24 dev eth0 src 198.18.2.2", "default via 198.18.2.1"};
    default:
      return {net.middle, "198.18.1.0/24 dev wan0 src 198.18.1.1", "198.18.2.0/24 dev lan0 src 198.18.2.1"};
  }
}

}  // namespace

void lock_congestion(const InlineLab& net, Host host, const std::string& name, const std::string& metrics) {
  const HostRoutes routes = routes_of(net, host);
  const std::string by = " congctl lock " + name + " " + metrics;
  routes.where.ip(std::string("route replace ") + routes.one + by + "\nroute replace " + routes.other + by);
}

std::string server_address(int server) {
  return server == 0 ? kServer4 : "198.18.2." + std::to_string(kFirstMoreHost + server);
}

SpeedLab::SpeedLab(const LabSpec& what) : spec(what), net(what.net) {
  for (int server = 1; server < spec.servers; ++server) net.add_server_address(server_address(server));
  if (!spec.congestion.empty()) {
    for (const Host host : {Host::client, Host::middle, Host::server})
      lock_congestion(net, host, spec.congestion);
  }
  if (spec.prepare) spec.prepare(net);
}

const Service& SpeedLab::service(const std::string& name) const {
  for (const Service& one : spec.services)
    if (one.name == name) return one;
  throw std::out_of_range("the lab has no service " + name);
}

}  // namespace headrace::lab
