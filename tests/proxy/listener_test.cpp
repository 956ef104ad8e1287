// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/listener.hpp"

#include "tests/proxy/waiting.hpp"
#include "tests/proxy/worker_rig.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

const Endpoint kAt{IpAddress::v4({127, 0, 0, 1}), 18500};
const Endpoint kElsewhere{IpAddress::v4({198, 18, 2, 9}), 1521};

std::optional<OriginalDestination> destination(Origin origin, const Endpoint& local) {
  ListenerPlan plan;
  plan.origin = origin;
  plan.at = kAt;
  plan.forward_to = kElsewhere;
  return original_destination(plan, Accepted{Fd{}, {}, local});
}

}  // namespace

TEST_CASE("listener: a connection made straight to a transparent listener is reset and counted") {
  WorkerRig::Settings settings;
  settings.origin = Origin::tproxy;
  const WorkerRig rig{settings};
  CHECK(rig.end_of_connection() == lab::End::reset);
  CHECK(rig.counters().refused_direct == 1);
  CHECK(rig.counters().accepted == 0);
}

TEST_CASE("listener: a diverted connection goes where its own address says") {
  CHECK(destination(Origin::tproxy, kElsewhere) == OriginalDestination{kElsewhere});
}

TEST_CASE("listener: a diverted connection to loopback is refused") {
  CHECK_FALSE(destination(Origin::tproxy, {IpAddress::v4({127, 0, 0, 1}), 80}));
  CHECK_FALSE(destination(Origin::tproxy, kAt));
}

TEST_CASE("listener: a redirected connection that conntrack does not know is refused") {
  CHECK_FALSE(destination(Origin::redirect, kAt));
}

TEST_CASE("listener: a forwarder always goes to the same place") {
  CHECK(destination(Origin::forward, kAt) == OriginalDestination{kElsewhere});
}

}  // namespace headrace
