// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/rules/far_host.hpp"

namespace headrace {

FarHost::FarHost(const lab::InlineLab& lab, Behind behind)
    : behind_{behind},
      host_{behind == Behind::client ? "far-client" : "far-server"},
      hop_{{behind == Behind::client ? lab.client : lab.server,
            "far0",
            {net(false) + "1/24", net(true) + "1/64"}},
           {host_, "eth0", {net(false) + "2/24", net(true) + "2/64"}},
           {.mtu = 1300}} {
  const bool at_client = behind == Behind::client;
  const lab::Namespace& router = at_client ? lab.client : lab.server;
  router.sysctl("net.ipv4.ip_forward", "1");
  router.sysctl("net.ipv6.conf.all.forwarding", "1");
  host_.ip("route add default via " + net(false) + "1 advmss 1460\n" +  //
           "route add default via " + net(true) + "1 advmss 1440");
  lab.middle.ip("route add " + net(false) + "0/24 via " + (at_client ? lab::kClient4 : lab::kServer4) +
                "\nroute add " + net(true) + "/64 via " + (at_client ? lab::kClient6 : lab::kServer6));
}

std::string FarHost::net(bool ipv6) const {
  if (ipv6) return behind_ == Behind::client ? "2001:db8:3::" : "2001:db8:4::";
  return behind_ == Behind::client ? "198.18.3." : "198.18.4.";
}

}  // namespace headrace
