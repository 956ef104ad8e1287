// SPDX-License-Identifier: GPL-3.0-or-later
// What the client is promised before anybody accepts: each policy's own SYN-ACK.
#include "bench/lab/capture.hpp"
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

const char* const kPolicies = R"(
[[policy]]
name = "exempt"
to = ["any"]
ports = [5005]
action = "bypass"
[[policy]]
name = "narrow"
to = ["any"]
ports = [5000]
client_leg = { profile = "lan", mss = 900, receive_buffer = "16KiB", congestion = "reno" }
[[policy]]
name = "wide"
to = ["any"]
ports = ["5000-5010"]
client_leg = { profile = "lan", mss = 1200, congestion = "cubic" }
)";

lab::Packet syn_ack_to(const lab::Capture& capture, const Conversation& conversation) {
  const auto port = conversation.client.local_port();
  const auto packet = capture.wait_for(
      [port](const lab::Packet& seen) { return seen.syn && seen.ack && seen.to_port == port; }, 5s);
  REQUIRE(packet);
  return *packet;
}

std::string congestion_of(const lab::InlineLab& lab, const Conversation& conversation) {
  return lab.middle.command({"ss", "-Htin", "dst", conversation.client.local()});
}

}  // namespace

TEST_CASE("rules: each class announces its own segment size and window scale, the first match winning") {
  const lab::InlineLab lab;
  DaemonSettings settings;
  settings.policies = kPolicies;
  const Daemon daemon{lab, settings};
  const lab::Capture capture{lab.client, "eth0"};
  for (const char* address : kServers) {
    const auto at_narrow = lab::Socket::listen(lab.server, lab::endpoint(address, 5000));
    const auto at_wide = lab::Socket::listen(lab.server, lab::endpoint(address, 5001));
    INFO(address);
    const auto narrow = converse(lab, at_narrow);
    const auto wide = converse(lab, at_wide);
    const auto to_narrow = syn_ack_to(capture, narrow);
    const auto to_wide = syn_ack_to(capture, wide);
    CHECK(to_narrow.mss == 900);
    CHECK(to_wide.mss == 1200);
    REQUIRE((to_narrow.window_scale && to_wide.window_scale));
    CHECK(*to_narrow.window_scale < *to_wide.window_scale);
    CHECK(congestion_of(lab, narrow).find("reno") != std::string::npos);
    CHECK(congestion_of(lab, wide).find("cubic") != std::string::npos);
    CHECK(speaks(narrow));
    CHECK(speaks(wide));
  }
}

TEST_CASE("rules: a bypass policy inside a broader one sends its flows direct") {
  const lab::InlineLab lab;
  DaemonSettings settings;
  settings.policies = kPolicies;
  const Daemon daemon{lab, settings};
  CHECK(way_of_new_flows(lab, listen_in_both(lab, 5005)) == "direct");
  CHECK(way_of_new_flows(lab, listen_in_both(lab, 5006)) == "through");
  CHECK(way_of_new_flows(lab, listen_in_both(lab, 5011)) == "direct");  // no policy at all
}
