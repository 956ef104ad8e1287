// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;

namespace {

void check_ipv4_works(const lab::InlineLab& lab) {
  const Daemon daemon{lab};
  const auto listener = lab::Socket::listen(lab.server, lab::endpoint(lab::kServer4, 5000));
  const auto session = converse(lab, listener);
  CHECK(speaks(session));
  CHECK(is_through(lab, session));
}

}  // namespace

TEST_CASE("rules: a host with IPv6 switched off intercepts IPv4") {
  const lab::InlineLab lab;
  lab.middle.sysctl("net.ipv6.conf.all.disable_ipv6", "1");
  lab.middle.sysctl("net.ipv6.conf.default.disable_ipv6", "1");
  check_ipv4_works(lab);
}

TEST_CASE("rules: a host without ::1 on its loopback intercepts IPv4") {
  const lab::InlineLab lab;
  lab.middle.ip("addr del ::1/128 dev lo");
  check_ipv4_works(lab);
}
