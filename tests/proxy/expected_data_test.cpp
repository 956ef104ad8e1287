// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/expected_data.hpp"

#include "tests/test.hpp"

namespace headrace {
namespace {

using namespace std::chrono_literals;

const IpAddress kClient = IpAddress::v4({198, 18, 1, 2});
const IpAddress kServer = IpAddress::v4({198, 18, 2, 2});
const Instant kNow{1h};

ExpectedData expected(std::uint16_t port = 40001) {
  return {kClient,
          {kServer, port},
          std::make_shared<const Decision>(),
          kClient,
          {},
          std::make_shared<DataActivity>()};
}

Flow flow(const IpAddress& from = kClient, std::uint16_t port = 40001) {
  return {{{from, 50000}}, {{kServer, port}}};
}

// Rules of no classes, so that no element is wanted.
InterceptSettings never(PortRange ports) {
  InterceptSettings intercept;
  intercept.firewall = Firewall::iptables;
  intercept.never = {{std::nullopt, ports}};
  return intercept;
}

}  // namespace

TEST_CASE("expected data: a connection is taken once, whichever port its peer uses, and no other is") {
  ExpectedConnections all;
  CHECK_FALSE(all.take(flow(), kNow));
  const ExpectedData data = expected();
  CHECK(all.add(data, kNow) == 0);
  CHECK_FALSE(all.take(flow(IpAddress::v4({198, 18, 1, 9})), kNow));
  CHECK_FALSE(all.take(flow(kClient, 40002), kNow));
  const auto taken = all.take(flow(), kNow);
  REQUIRE(taken);
  CHECK(taken->control == data.control);
  CHECK_FALSE(all.take(flow(), kNow));
}

TEST_CASE("expected data: what has not come in time is expected no more") {
  ExpectedConnections all;
  all.add(expected(), kNow);
  CHECK_FALSE(all.take(flow(), kNow + ExpectedConnections::kLife));
  all.add(expected(), kNow);
  CHECK(all.take(flow(), kNow + ExpectedConnections::kLife - 1ns));
}

TEST_CASE("expected data: only the session that expects a connection takes it back") {
  ExpectedConnections all;
  const ExpectedData mine = expected();
  all.add(mine, kNow);
  all.remove(expected(), kNow);
  CHECK(all.take(flow(), kNow));
  all.add(mine, kNow);
  const ExpectedData others = expected();
  all.add(others, kNow);  // in its place
  all.remove(mine, kNow);
  const auto taken = all.take(flow(), kNow);
  REQUIRE(taken);
  CHECK(taken->control == others.control);
  all.add(mine, kNow);
  all.remove(mine, kNow);
  CHECK_FALSE(all.take(flow(), kNow));
}

TEST_CASE("expected data: what is never intercepted is not expected") {
  ExpectedConnections all;
  all.resume(never({40000, 40010}), {}, {}, kNow);
  all.add(expected(40001), kNow);
  all.add(expected(40011), kNow);
  CHECK_FALSE(all.take(flow(kClient, 40001), kNow));
  CHECK(all.take(flow(kClient, 40011), kNow));
}

}  // namespace headrace
