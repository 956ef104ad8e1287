// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/speed_lab.hpp"

namespace headrace::lab {
namespace {

constexpr int kFirstMoreHost = 10;  // 198.18.2.10 and up

}  // namespace

std::string server_address(int server) {
  return server == 0 ? kServer4 : "198.18.2." + std::to_string(kFirstMoreHost + server);
}

SpeedLab::SpeedLab(const std::string& congestion) {
  for (int server = 1; server < kServers; ++server) net.add_server_address(server_address(server));
  const std::string by = " congctl lock " + congestion;
  net.client.ip("route replace 198.18.1.0/24 dev eth0 src 198.18.1.2" + by +
                "\nroute replace default via 198.18.1.1" + by);
  net.server.ip("route replace 198.18.2.0/24 dev eth0 src 198.18.2.2" + by +
                "\nroute replace default via 198.18.2.1" + by);
  net.middle.ip("route replace 198.18.1.0/24 dev wan0 src 198.18.1.1" + by +
                "\nroute replace 198.18.2.0/24 dev lan0 src 198.18.2.1" + by);
}

}  // namespace headrace::lab
