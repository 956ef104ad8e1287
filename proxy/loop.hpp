// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

#include "proxy/fd.hpp"

// The event loop of one thread: a private epoll for our own descriptors, with libuv's inside it for
// signals and wake-ups from other threads. The only files that know libuv. Everything here belongs to
// the thread that runs the loop, but Wakeup::wake.
//
// Why not uv_poll_t a descriptor: it costs six system calls to set up and about 12 % of the median round
// trip (64-byte ping-pong with QUICKACK: uv_poll 43.8 us, bare epoll 38.0 us, HAProxy 43.4 us in one run).
namespace headrace {

using Clock = std::chrono::steady_clock;
using Instant = Clock::time_point;

// What epoll said of a descriptor. Several may be true at once.
struct Events {
  bool readable = false;
  bool writable = false;
  bool urgent = false;  // EPOLLPRI: an urgent mark waits in the stream
  bool ending = false;  // EPOLLRDHUP, EPOLLHUP or EPOLLERR: an end or a reset has arrived
  bool broken = false;  // EPOLLHUP or EPOLLERR: both directions are over, mostly by a reset
};

// Whoever wants to hear of a descriptor. `tag` is what the Watch was made with.
class Watcher {
 public:
  virtual void on_ready(unsigned tag, Events events) noexcept = 0;

 protected:
  ~Watcher() = default;
};

// Called around every turn: when to wake up at the latest, and what to do once all events were told.
// Objects that events of the same turn may still name are destroyed in turn_ended, never earlier.
class TurnHooks {
 public:
  virtual Instant next_deadline() noexcept = 0;  // Instant::max(): none; not later than now: do not sleep
  virtual void turn_began(Instant now) noexcept = 0;  // before any event is told
  virtual void turn_ended(Instant now) noexcept = 0;

 protected:
  ~TurnHooks() = default;
};

class Loop {
 public:
  Loop();
  ~Loop();  // asserts that nothing of libuv's is left open
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void set_hooks(TurnHooks* hooks) { hooks_ = hooks; }
  // Spins this long after the last event before it sleeps; zero: sleeps at once.
  void set_busy_poll(std::chrono::nanoseconds time) { busy_poll_ = time; }

  void run();                           // returns after stop()
  void stop();                          // from a callback of this loop
  Instant now() const { return now_; }  // of the current turn; no system call

 private:
  friend class Watch;
  friend class Wakeup;
  friend class Signals;
  struct Uv;

  std::optional<std::chrono::nanoseconds> time_to_sleep();
  void dispatch(int count);
  void run_uv();

  Fd epoll_;
  std::unique_ptr<Uv> uv_;
  TurnHooks* hooks_ = nullptr;
  std::chrono::nanoseconds busy_poll_{0};
  Instant now_ = Clock::now();
  Instant last_event_ = now_;
  bool stopped_ = false;
};

// A descriptor in a loop's epoll. Edge-triggered watches are registered once, for everything, and never
// changed; the owner reads until the kernel says there is no more. Level-triggered ones are for listeners:
// readable only. Destroy it before the descriptor closes; its memory must stay until turn_ended.
class Watch {
 public:
  enum class Trigger : std::uint8_t { edge, level };
  Watch() = default;
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // False when the kernel has no memory for it or fs.epoll.max_user_watches is reached.
  [[nodiscard]] bool start(Loop& loop, const Fd& descriptor, Watcher& watcher, unsigned tag,
                           Trigger trigger = Trigger::edge);
  void stop();

 private:
  friend class Loop;
  Loop* loop_ = nullptr;
  Watcher* watcher_ = nullptr;
  int descriptor_ = -1;
  unsigned tag_ = 0;
};

// Runs `callback` on the loop's thread after wake() was called from any thread; several calls may merge.
class Wakeup {
 public:
  Wakeup(Loop& loop, std::function<void()> callback);
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;
  void wake();

 private:
  struct Handle;
  Handle* handle_;  // freed by libuv's close callback
};

// Calls `callback` with the signal's number on the loop's thread.
class Signals {
 public:
  Signals(Loop& loop, std::initializer_list<int> numbers, std::function<void(int)> callback);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  struct Handle;
  std::vector<Handle*> handles_;
};

}  // namespace headrace
