// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/relay.hpp"

#include "tests/proxy/relay_rig.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

void exchange(RelayRig& rig) {
  REQUIRE(rig.carry_to_server("request") == "request");
  REQUIRE(rig.carry_to_client("answer") == "answer");
}

}  // namespace

TEST_CASE("relay: a request and its answer are one exchange") {
  RelayRig rig;
  exchange(rig);
  exchange(rig);
  CHECK(rig.relay.traffic().exchanges == 2);
  CHECK(rig.relay.traffic().to_server == 14);
  CHECK(rig.relay.traffic().to_client == 12);
}

TEST_CASE("relay: a request in parts is one exchange, and so is an answer in parts") {
  RelayRig rig;
  for (const char* part : {"one", "two", "three"}) REQUIRE(rig.carry_to_server(part) == part);
  for (const char* part : {"one", "two", "three"}) REQUIRE(rig.carry_to_client(part) == part);
  CHECK(rig.relay.traffic().exchanges == 1);
}

TEST_CASE("relay: a banner begins no exchange") {
  RelayRig rig;
  REQUIRE(rig.carry_to_client("220 ready") == "220 ready");
  CHECK(rig.relay.traffic().exchanges == 0);
}

TEST_CASE("relay: exchanges are timed where the next request follows within some round trips") {
  RelayRig rig;
  rig.relay.set_client_rtt(1min);
  exchange(rig);
  exchange(rig);
  exchange(rig);
  CHECK(rig.relay.traffic().timed_exchanges == 2);  // nobody asked after the last
  CHECK(rig.relay.traffic().answer_time > 0ns);
}

TEST_CASE("relay: exchanges are not timed across a pause of the client's") {
  RelayRig rig;
  rig.relay.set_client_rtt(1ns);
  exchange(rig);
  exchange(rig);
  CHECK(rig.relay.traffic().timed_exchanges == 0);
}

}  // namespace headrace
