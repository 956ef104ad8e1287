// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/at_once.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>

#include "bench/lab/handle.hpp"
#include "tests/test.hpp"

namespace headrace::lab {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 10s;

struct Signal {
  std::promise<void> promise;
  std::shared_future<void> said = promise.get_future().share();

  bool wait() const { return said.wait_for(kPatience) == std::future_status::ready; }
};

}  // namespace

TEST_CASE("at once: two halves run side by side") {
  Signal first, second;
  bool first_heard = false, second_heard = false;
  run_at_once({{0.5,
                [&] {
                  first.promise.set_value();
                  first_heard = second.wait();
                }},
               {0.5, [&] {
                  second.promise.set_value();
                  second_heard = first.wait();
                }}});
  CHECK(first_heard);
  CHECK(second_heard);
}

TEST_CASE("at once: what needs the whole machine has it for itself") {
  std::atomic<int> running{0}, most{0};
  const auto alone = [&] {
    most = std::max(most.load(), ++running);
    std::this_thread::yield();
    --running;
  };
  run_at_once({{1, alone}, {1, alone}, {1, alone}, {1, alone}});
  CHECK(most == 1);
}

TEST_CASE("at once: a failure interrupts those that run, begins no other and is thrown on") {
  const Handle never(eventfd(0, EFD_CLOEXEC));
  Signal waits;
  bool was_interrupted = false, has_begun = false;
  const auto run = [&] {
    run_at_once({{0.5,
                  [&] {
                    waits.promise.set_value();
                    try {
                      for (int n = 0; n < 1000; ++n) wait_for(never.get(), POLLIN, Deadline(10ms));
                    } catch (const Interrupted&) {
                      was_interrupted = true;
                    }
                  }},
                 {0.5,
                  [&] {
                    waits.wait();
                    throw std::runtime_error("the second one failed");
                  }},
                 {1, [&] { has_begun = true; }}});
  };
  CHECK_THROWS_WITH(run(), "the second one failed");
  CHECK(was_interrupted);
  CHECK(!has_begun);
  CHECK_NOTHROW(throw_if_interrupted());
}

TEST_CASE("at once: when all is over, what runs is interrupted, however often that gets lost") {
  const Handle never(eventfd(0, EFD_CLOEXEC));
  std::atomic<bool> is_over{false};
  int heard = 0;
  const auto run = [&] {
    run_at_once({{1,
                  [&] {
                    is_over = true;
                    for (int n = 0; n < 1000 && heard < 2; ++n) {
                      try {
                        wait_for(never.get(), POLLIN, Deadline(10ms));
                      } catch (const Interrupted&) {
                        ++heard;
                      }
                    }
                  }}},
                [&] { return is_over.load(); });
  };
  CHECK_THROWS_AS(run(), Interrupted);
  CHECK(heard == 2);
}

}  // namespace headrace::lab
