// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/prepared_legs.hpp"

#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t kFirst = 7, kSecond = 8;  // sequence numbers

Flow flow(std::uint16_t port) {
  return {{{IpAddress::v4({198, 18, 1, 2}), port}}, {{IpAddress::v4({198, 18, 2, 9}), 1521}}};
}

struct Rig {
  Admission room{{2, 2, 2, Overload::refuse}, nullptr};
  PreparedLegs legs{room};
  Instant now{};

  bool put(std::uint16_t port, std::uint32_t sequence, Instant until) {
    const bool admitted = room.admit(flow(port).client.value.address) == Admission::Verdict::admitted;
    if (admitted) legs.put(flow(port), sequence, {}, until);
    return admitted;
  }
};

}  // namespace

TEST_CASE("prepared legs: a leg is taken once, by its flow, and leaves its place") {
  Rig rig;
  CHECK(rig.put(1000, kFirst, rig.now + 10s));
  CHECK(rig.put(1001, kFirst, rig.now + 10s));
  CHECK_FALSE(rig.put(1002, kFirst, rig.now + 10s));
  CHECK_FALSE(rig.legs.take(flow(1002)));
  CHECK(rig.legs.take(flow(1000)));
  CHECK_FALSE(rig.legs.take(flow(1000)));
  CHECK(rig.legs.waiting() == 1);
  CHECK(rig.put(1002, kFirst, rig.now + 10s));
}

TEST_CASE("prepared legs: the SYN of a leg is known while that waits, and its copies for a while") {
  Rig rig;
  rig.put(1000, kFirst, rig.now + 10s);
  CHECK(rig.legs.knows(flow(1000), kFirst));
  CHECK(rig.legs.knows(flow(1000), kSecond));  // the leg that waits does for a client that began anew
  rig.legs.take(flow(1000));
  CHECK(rig.legs.knows(flow(1000), kFirst));
  CHECK_FALSE(rig.legs.knows(flow(1000), kSecond));
  CHECK(rig.legs.expire(rig.now + 10s) == 0);
  CHECK_FALSE(rig.legs.knows(flow(1000), kFirst));
  CHECK(rig.legs.empty());
}

TEST_CASE("prepared legs: a leg that nobody comes for goes at its time, and its place is free") {
  Rig rig;
  rig.put(1000, kFirst, rig.now + 10s);
  rig.put(1001, kFirst, rig.now + 11s);
  CHECK(rig.legs.expire(rig.now + 9s) == 0);
  CHECK(rig.legs.expire(rig.now + 10s) == 1);
  CHECK_FALSE(rig.legs.take(flow(1000)));
  CHECK(rig.legs.take(flow(1001)));
  CHECK(rig.room.live() == 0);
}

TEST_CASE("prepared legs: a flow that began anew lives as long as its second beginning says") {
  Rig rig;
  rig.put(1000, kFirst, rig.now + 10s);
  rig.legs.take(flow(1000));
  rig.put(1000, kSecond, rig.now + 15s);
  CHECK(rig.legs.expire(rig.now + 10s) == 0);
  CHECK(rig.legs.take(flow(1000)));
  CHECK(rig.legs.expire(rig.now + 15s) == 0);
  CHECK(rig.legs.empty());
}
