// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/listener.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>

#include "bench/lab/socket_address.hpp"
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
  const Fd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ::setsockopt(socket.get(), IPPROTO_IP, IP_FREEBIND, &on,
               sizeof on);  // as a diverted one: no address of ours
  const lab::SocketAddress address(print(local));
  REQUIRE(::bind(socket.get(), address.get(), address.size()) == 0);
  return original_destination(plan, socket);
}

int option(const Fd& socket, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  ::getsockopt(socket.get(), level, name, &value, &size);
  return value;
}

// What an accepted connection has after the calls of `policy`, where the listener is of the default profile.
std::array<int, 3> delay_alive_idle(const Profile& policy) {
  const ListenerSpec spec{{IpAddress::v4({127, 0, 0, 1}), 0}, false, make_treatment("d", {}, Side::client)};
  const Result<Fd> listener = listen_at(spec, nullptr);
  REQUIRE(listener);
  const auto to = lab::SocketAddress("127.0.0.1:" + std::to_string(local_endpoint(*listener).port));
  const Fd client{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  REQUIRE(::connect(client.get(), to.get(), to.size()) == 0);
  const Result<Accepted> accepted = accept_one(*listener);
  REQUIRE(accepted);
  const auto treatment = make_treatment("p", policy, Side::client);
  apply(accepted->socket, client_leg_calls(*treatment, Family::ipv4), nullptr);
  return {option(accepted->socket, IPPROTO_TCP, TCP_NODELAY),
          option(accepted->socket, SOL_SOCKET, SO_KEEPALIVE),
          option(accepted->socket, IPPROTO_TCP, TCP_KEEPIDLE)};
}

}  // namespace

TEST_CASE("listener: whoever it accepts has the default profile without a call") {
  CHECK(client_leg_calls(*make_treatment("d", {}, Side::client), Family::ipv4).empty());
  CHECK(delay_alive_idle({}) == std::array{1, 1, 60});
}

TEST_CASE("listener: what it hands down gives way to the policy") {
  Profile policy;
  policy.nodelay = policy.keepalive = false;
  CHECK(delay_alive_idle(policy)[0] == 0);
  CHECK(delay_alive_idle(policy)[1] == 0);
  policy.keepalive = true;
  policy.keepalive_idle = std::chrono::seconds{300};
  CHECK(delay_alive_idle(policy) == std::array{0, 1, 300});
}

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
  CHECK_FALSE(destination(Origin::tproxy, {IpAddress::v4({127, 0, 0, 1}), 18501}));
  CHECK_FALSE(destination(Origin::tproxy, kAt));
}

TEST_CASE("listener: a redirected connection that conntrack does not know is refused") {
  CHECK_FALSE(destination(Origin::redirect, kAt));
}

TEST_CASE("listener: a forwarder always goes to the same place") {
  CHECK(destination(Origin::forward, kAt) == OriginalDestination{kElsewhere});
}

}  // namespace headrace
