// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/speed_lab.hpp"

#include <stdexcept>

namespace headrace::lab {
namespace {

constexpr int kFirstMoreHost = 10;  // 198.18.2.10 and up

void lock_congestion(const InlineLab& net, const std::string& name) {
  const std::string by = " congctl lock " + name;
  net.client.ip("route replace 198.18.1.0/24 dev eth0 src 198.18.1.2" + by +
                "\nroute replace default via 198.18.1.1" + by);
  net.server.ip("route replace 198.18.2.0/24 dev eth0 src 198.18.2.2" + by +
                "\nroute replace default via 198.18.2.1" + by);
  net.middle.ip("route replace 198.18.1.0/24 dev wan0 src 198.18.1.1" + by +
                "\nroute replace 198.18.2.0/24 dev lan0 src 198.18.2.1" + by);
}

}  // namespace

std::string server_address(int server) {
  return server == 0 ? kServer4 : "198.18.2." + std::to_string(kFirstMoreHost + server);
}

SpeedLab::SpeedLab(const LabSpec& what) : spec(what), net(what.net) {
  for (int server = 1; server < spec.servers; ++server) net.add_server_address(server_address(server));
  if (!spec.congestion.empty()) lock_congestion(net, spec.congestion);
}

const Service& SpeedLab::service(const std::string& name) const {
  for (const Service& one : spec.services)
    if (one.name == name) return one;
  throw std::out_of_range("the lab has no service " + name);
}

}  // namespace headrace::lab
