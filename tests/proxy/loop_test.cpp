// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/loop.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <optional>
#include <thread>

#include "tests/proxy/waiting.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

using namespace std::chrono_literals;

// Runs a loop for some turns at most, each ended by an event or after 20 ms.
class Turns final : public TurnHooks {
 public:
  explicit Turns(Loop& loop, int most = 1) : loop_{loop}, left_{most} { loop.set_hooks(this); }
  ~Turns() { loop_.set_hooks(nullptr); }
  Instant next_deadline() noexcept override { return deadline ? *deadline : loop_.now() + 20ms; }
  void turn_began(Instant) noexcept override { ++turns; }
  void turn_ended(Instant) noexcept override {
    if (--left_ <= 0) loop_.stop();
  }
  std::optional<Instant> deadline;
  int turns = 0;

 private:
  Loop& loop_;
  int left_;
};

class Ear final : public Watcher {
 public:
  void on_ready(unsigned tag, Events events) noexcept override {
    ++calls;
    last_tag = tag;
    last = events;
  }
  int calls = 0;
  unsigned last_tag = 0;
  Events last;
};

struct SocketPair {
  SocketPair() {
    std::array<int, 2> ends{};
    ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data());
    near = Fd{ends[0]};
    far = Fd{ends[1]};
  }
  void send_near(std::string_view bytes) const { ::send(far.get(), bytes.data(), bytes.size(), 0); }
  Fd near;
  Fd far;
};

void run_turns(Loop& loop, int turns) {
  const Turns hooks{loop, turns};
  loop.run();
}

}  // namespace

TEST_CASE("loop: an edge is told once, with its tag") {
  Loop loop;
  Ear ear;
  const SocketPair pair;
  Watch watch;
  REQUIRE(watch.start(loop, pair.near, ear, 7));
  pair.send_near("x");
  run_turns(loop, 3);
  CHECK(ear.calls == 1);
  CHECK(ear.last_tag == 7);
  CHECK(ear.last.readable);
  CHECK(ear.last.writable);
  CHECK_FALSE(ear.last.ending);
}

TEST_CASE("loop: bytes that come later are another edge although the first were not read") {
  Loop loop;
  Ear ear;
  const SocketPair pair;
  Watch watch;
  REQUIRE(watch.start(loop, pair.near, ear, 0));
  pair.send_near("x");
  run_turns(loop, 1);
  pair.send_near("y");
  run_turns(loop, 1);
  CHECK(ear.calls == 2);
}

TEST_CASE("loop: a level is told every turn") {
  Loop loop;
  Ear ear;
  const SocketPair pair;
  Watch watch;
  REQUIRE(watch.start(loop, pair.near, ear, 0, Watch::Trigger::level));
  pair.send_near("x");
  run_turns(loop, 3);
  CHECK(ear.calls == 3);
}

TEST_CASE("loop: an end is told as one") {
  Loop loop;
  Ear ear;
  const SocketPair pair;
  Watch watch;
  REQUIRE(watch.start(loop, pair.near, ear, 0));
  ::shutdown(pair.far.get(), SHUT_WR);
  run_turns(loop, 1);
  CHECK(ear.last.ending);
  CHECK(ear.last.readable);
  CHECK_FALSE(ear.last.broken);
}

TEST_CASE("loop: a stopped watch is silent, even for what was found in the same turn") {
  Loop loop;
  const SocketPair first;
  const SocketPair second;
  Watch first_watch;
  Watch second_watch;
  struct Stopper final : Watcher {
    explicit Stopper(Watch& to_stop) : other{to_stop} {}
    void on_ready(unsigned, Events) noexcept override {
      ++calls;
      other.stop();
    }
    Watch& other;
    int calls = 0;
  };
  Stopper stops_second{second_watch};
  Stopper stops_first{first_watch};
  REQUIRE(first_watch.start(loop, first.near, stops_second, 0));
  REQUIRE(second_watch.start(loop, second.near, stops_first, 0));
  run_turns(loop, 2);
  CHECK(stops_second.calls + stops_first.calls == 1);
}

TEST_CASE("loop: a watch that started again listens again") {
  Loop loop;
  Ear ear;
  const SocketPair pair;
  Watch watch;
  REQUIRE(watch.start(loop, pair.near, ear, 1));
  REQUIRE(watch.start(loop, pair.near, ear, 2));
  run_turns(loop, 1);
  CHECK(ear.last_tag == 2);
}

TEST_CASE("loop: a descriptor that cannot be watched is said so") {
  Loop loop;
  Ear ear;
  Watch watch;
  CHECK_FALSE(watch.start(loop, Fd{}, ear, 0));
}

TEST_CASE("loop: wake-ups before the loop runs merge into one") {
  Loop loop;
  int woken = 0;
  Wakeup wakeup{loop, [&] { ++woken; }};
  wakeup.wake();
  wakeup.wake();
  run_turns(loop, 2);
  CHECK(woken == 1);
}

TEST_CASE("loop: a wake-up from another thread ends a sleep") {
  Loop loop;
  bool woken = false;
  Wakeup wakeup{loop, [&] {
                  woken = true;
                  loop.stop();
                }};
  std::thread other{[&] { wakeup.wake(); }};
  loop.run();  // without a deadline: an hour
  other.join();
  CHECK(woken);
}

TEST_CASE("loop: a wake-up that wakes itself is called again, not lost") {
  Loop loop;
  int woken = 0;
  std::optional<Wakeup> wakeup;
  wakeup.emplace(loop, [&] {
    if (++woken < 3)
      wakeup->wake();
    else
      loop.stop();
  });
  wakeup->wake();
  loop.run();
  CHECK(woken == 3);
}

TEST_CASE("loop: a signal is told with its number") {
  Loop loop;
  int received = 0;
  const Signals signals{loop, {SIGUSR1, SIGUSR2}, [&](int number) {
                          received = number;
                          loop.stop();
                        }};
  Turns hooks{loop, 100};
  ::kill(::getpid(), SIGUSR2);
  loop.run();
  CHECK(received == SIGUSR2);
}

TEST_CASE("loop: a deadline that has passed, however long ago, does not sleep") {
  Loop loop;
  for (const Instant passed : {Instant::min(), Instant{}, Clock::now()}) {
    const Instant began = Clock::now();
    Turns once{loop, 1};
    once.deadline = passed;
    loop.run();
    CHECK(Clock::now() - began < 1s);  // the longest sleep is an hour
  }
}

TEST_CASE("loop: a deadline ends the sleep, not before it") {
  Loop loop;
  Turns hooks{loop, 1};
  const Instant deadline = Clock::now() + 10ms;
  hooks.deadline = deadline;
  loop.run();
  CHECK(loop.now() >= deadline);
}

TEST_CASE("loop: busy polling does not sleep towards a deadline") {
  Loop loop;
  loop.set_busy_poll(1h);
  Turns hooks{loop, 20};
  hooks.deadline = Clock::now() + 1h;
  loop.run();
  CHECK(hooks.turns == 20);
}

}  // namespace headrace
