// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/syn_queue.hpp"

#include "bench/lab/namespace.hpp"
#include "tests/test.hpp"

using namespace headrace;
using Catch::Matchers::Contains;

TEST_CASE("packet queue: one that another process has is refused, and free when that is gone") {
  const lab::Namespace here{"queue"};
  here.run([] {
    {
      const SynQueue first{7, MarkAndMask{}};
      CHECK_THROWS_WITH((SynQueue{7, MarkAndMask{}}),
                        Contains("packet queue 7: in use by another process") && Contains("intercept.queue"));
      CHECK_NOTHROW(SynQueue{8, MarkAndMask{}});
    }
    CHECK_NOTHROW(SynQueue{7, MarkAndMask{}});
  });
}

TEST_CASE("packet queue: nothing to read is no failure, nor is a verdict on what is gone") {
  const lab::Namespace here{"queue"};
  here.run([] {
    SynQueue queue{7, MarkAndMask{}};
    CHECK(queue.read([](const QueuedSyn&) { FAIL("there is no SYN"); }));
    queue.settle({17, 0, {}}, SynVerdict::take);
    CHECK(queue.read([](const QueuedSyn&) { FAIL("there is no SYN"); }));
  });
}
