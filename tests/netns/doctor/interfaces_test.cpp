// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/doctor/patient.hpp"
#include "tests/test.hpp"

using namespace headrace;
using Catch::Matchers::Contains;

namespace {

DaemonSettings on(const std::string& interfaces) {
  DaemonSettings settings = plain_settings();
  settings.intercept = "interfaces = [" + interfaces + "]\n";
  settings.start = false;
  return settings;
}

}  // namespace

TEST_CASE("doctor: a wrong interface name is named, with those that there are") {
  const lab::InlineLab lab;
  const Daemon wrong{lab, on("\"wan1\"")};
  const Diagnosis diagnosis{wrong};
  CHECK(diagnosis.exit_status() == 1);
  CHECK(diagnosis.fails("interfaces"));
  CHECK_THAT(diagnosis.line("interfaces"), Contains("wan1") && Contains("wan0") && Contains("lan0"));
}

TEST_CASE("doctor: a pattern that matches nothing yet is a warning") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, on("\"ppp*\"")};
  CHECK(Diagnosis{daemon}.warns("interfaces"));
}

TEST_CASE("doctor: an interface that is a bridge's port is named, with the bridge") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, on("\"wan0\"")};
  lab.middle.ip("link add br0 type bridge\nlink set br0 up\nlink set wan0 master br0");
  const Diagnosis diagnosis{daemon};
  CHECK(diagnosis.fails("bridge_vrf"));
  CHECK_THAT(diagnosis.line("bridge_vrf"), Contains("interfaces = [\"br0\"]"));
}

TEST_CASE("doctor: a bridge that routes is a warning") {
  const lab::InlineLab lab;
  lab.middle.ip("link add br0 type bridge\nlink set br0 up");
  const Daemon daemon{lab, on("\"br0\"")};
  CHECK(Diagnosis{daemon}.warns("bridge_vrf"));
}

TEST_CASE("doctor: an interface in a VRF is named") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, on("\"wan0\"")};
  try {
    lab.middle.ip("link add red type vrf table 100");
  } catch (const std::exception& error) {
    WARN("SKIPPED: this kernel has no VRF devices: " << error.what());
    return;
  }
  lab.middle.ip("link set red up\nlink set wan0 master red");
  CHECK(Diagnosis{daemon}.fails("bridge_vrf"));
}

TEST_CASE("doctor: MTUs that differ are named") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, on("\"wan0\"")};
  CHECK(Diagnosis{daemon}.is_fine("mtu"));
  lab.middle.ip("link set wan0 mtu 1400");
  CHECK_THAT(Diagnosis{daemon}.line("mtu"), Contains("warn") && Contains("wan0 1400"));
}

// No virtual device of Linux 6.18 merges received segments as hardware does: veth, tun, ifb and dummy have
// the feature fixed to off, and bonds, which pass on what their ports have, aren't in every kernel.
TEST_CASE("doctor: an interface that merges received segments is named") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, on("\"wan0\"")};
  CHECK(Diagnosis{daemon}.is_fine("lro"));
  try {
    lab.middle.command({"ethtool", "-K", "wan0", "lro", "on"});
  } catch (const std::exception& error) {
    WARN("SKIPPED: no device here merges received segments: " << error.what());
    return;
  }
  CHECK(Diagnosis{daemon}.warns("lro"));
}
