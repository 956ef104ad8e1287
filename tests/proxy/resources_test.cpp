// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/resources.hpp"

#include <memory>

#include "proxy/session.hpp"
#include "tests/proxy/relay_rig.hpp"
#include "tests/proxy/waiting.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

struct Given {
  explicit Given(std::size_t pipes, std::size_t memory = 1000) : budget{memory}, resources{budget, pipes} {}
  MemoryBudget budget;
  WorkerResources resources;
};

}  // namespace

TEST_CASE("resources: no more pipes are out than allowed, and those that came back go out again") {
  const auto given = std::make_unique<Given>(2);
  auto first = given->resources.take_pipe();
  auto second = given->resources.take_pipe();
  REQUIRE(first);
  REQUIRE(second);
  CHECK_FALSE(given->resources.take_pipe());
  const int descriptor = first->read_end.get();
  given->resources.return_pipe(std::move(*first));
  const auto again = given->resources.take_pipe();
  REQUIRE(again);
  CHECK(again->read_end.get() == descriptor);
}

TEST_CASE("resources: a pipe that was lost with its session leaves room for another") {
  const auto given = std::make_unique<Given>(1);
  {
    const auto lost = given->resources.take_pipe();
    given->resources.lost_pipe();
  }
  CHECK(given->resources.take_pipe());
}

TEST_CASE("resources: above the ceiling reads are frugal and pipes are not to be had") {
  const auto given = std::make_unique<Given>(1);
  CHECK(given->resources.scratch().size() == kReadSize);
  given->budget.take(1000);
  CHECK(given->resources.scratch().size() == kFrugalReadSize);
  CHECK_FALSE(given->resources.take_pipe());
  given->budget.give(1);
  CHECK(given->resources.scratch().size() == kReadSize);
}

TEST_CASE("resources: sessions cut in mid-transfer give their pipes back to the count") {
  RelayRig::Settings settings;
  settings.pipes = 1;
  settings.server.receive_buffer = 16 * 1024;
  RelayRig rig{settings};
  const auto sent = in_background([&] { return rig.client.send_all(lab::pattern(8'000'000), 500ms); });
  rig.settle();
  rig.close_legs();
  CHECK(rig.resources.take_pipe());
}

TEST_CASE("resources: a session costs less than a kilobyte") {
  CHECK(sizeof(Session) <= 960);
  CHECK(sizeof(Session) >= 512);  // or say so in its header
}

}  // namespace headrace
