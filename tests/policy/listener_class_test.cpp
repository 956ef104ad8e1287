// SPDX-License-Identifier: GPL-3.0-or-later
#include "policy/listener_class.hpp"

#include "tests/policy/policies.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace headrace::testing;

namespace {

Policy with_client_leg(std::string name, const Profile& profile, Action action = Action::accelerate) {
  Policy made = policy(std::move(name), {}, {"198.18.9.5"});
  made.decision.client_leg = make_treatment("test", profile, Side::client);
  made.decision.action = action;
  return made;
}

}  // namespace

TEST_CASE("listener classes: what is fixed before the SYN-ACK makes the class, nothing else does") {
  Profile plain;
  Profile small;
  small.mss = {Mss::Mode::fixed, 536};
  Profile small_and_slow = small;
  small_and_slow.keepalive_idle = std::chrono::seconds{10};
  small_and_slow.user_timeout = std::chrono::seconds{30};
  const PolicyTable table{{with_client_leg("a", plain), with_client_leg("b", small),
                           with_client_leg("c", plain), with_client_leg("d", small_and_slow),
                           with_client_leg("e", small, Action::bypass)}};
  const auto grouped = group_into_classes(table);
  REQUIRE(grouped.classes.size() == 2);
  CHECK(grouped.classes[0].key.empty());
  CHECK(grouped.classes[0].policies == std::vector<std::size_t>{0, 2});
  CHECK(grouped.classes[1].key == "mss=536");
  CHECK(grouped.classes[1].policies == std::vector<std::size_t>{1, 3});
  CHECK(grouped.of_policy == std::vector<std::optional<std::size_t>>{0, 1, 0, 1, std::nullopt});
}

TEST_CASE("listener classes: the key names each setting in the table's order") {
  Profile profile;
  profile.fast_open = true;
  profile.congestion = CongestionControl{"cubic"};
  profile.mss = {Mss::Mode::fixed, 1460};
  profile.receive_buffer = Bytes{65536};
  profile.mark = Mark{0x100};
  CHECK(handshake_key(profile) == "mss=1460 receive_buffer=64KiB congestion=cubic fast_open=true mark=0x100");
  CHECK(handshake_key(Profile{}).empty());
}
