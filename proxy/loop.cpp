// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/loop.hpp"

#include <sys/epoll.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "proxy/result.hpp"

namespace headrace {
namespace {

constexpr int kEventsPerTurn = 256;
// Sleeps are cut to this, so that a wrong clock can't put the loop to sleep for good.
constexpr std::chrono::nanoseconds kLongestSleep = std::chrono::hours{1};

void check_uv(const char* attempt, int status) {
  if (status < 0) throw std::system_error{-status, std::system_category(), attempt};
}

Events from_mask(std::uint32_t mask) {
  return {.readable = (mask & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0,
          .writable = (mask & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0,
          .urgent = (mask & EPOLLPRI) != 0,
          .ending = (mask & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0,
          .broken = (mask & (EPOLLHUP | EPOLLERR)) != 0};
}

timespec to_kernel(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return {seconds.count(), (time - seconds).count()};
}

// Ends a handle's life the way libuv wants it: memory goes in the close callback.
template <class Handle>
void close_handle(Handle* handle) {
  handle->uv.data = nullptr;
  uv_close(reinterpret_cast<uv_handle_t*>(&handle->uv),
           [](uv_handle_t* closed) { delete reinterpret_cast<Handle*>(closed); });
}

}  // namespace

struct Loop::Uv {
  uv_loop_t loop;
  std::array<epoll_event, kEventsPerTurn> events;
};

Loop::Loop() : epoll_{epoll_create1(EPOLL_CLOEXEC)}, uv_{std::make_unique<Uv>()} {
  if (!epoll_) throw std::system_error{errno, std::system_category(), "epoll_create1"};
  // Linux 5.11; a seccomp filter may not know it either.
  const timespec now{0, 0};
  if (epoll_pwait2(epoll_.get(), uv_->events.data(), 1, &now, nullptr) < 0)
    throw std::system_error{errno, std::system_category(), "epoll_pwait2"};
  check_uv("uv_loop_init", uv_loop_init(&uv_->loop));
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;  // libuv itself
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, uv_backend_fd(&uv_->loop), &event) != 0)
    throw std::system_error{errno, std::system_category(), "epoll_ctl"};
}

Loop::~Loop() {
  uv_run(&uv_->loop, UV_RUN_DEFAULT);  // close callbacks
  HEADRACE_INVARIANT(uv_loop_close(&uv_->loop) == 0);
}

void Loop::stop() { stopped_ = true; }

// libuv hands its descriptors to its epoll only inside uv_run: hence once before the first sleep.
void Loop::run_uv() { uv_run(&uv_->loop, UV_RUN_NOWAIT); }

// Nothing: until an event. Without a timeout the kernel sets no timer, which each sleep would pay for.
std::optional<std::chrono::nanoseconds> Loop::time_to_sleep() {
  if (busy_poll_.count() > 0 && now_ - last_event_ < busy_poll_) return std::chrono::nanoseconds{0};
  const Instant deadline = hooks_ ? hooks_->next_deadline() : Instant::max();
  if (deadline <= now_) return std::chrono::nanoseconds{0};  // min() - now would overflow
  if (deadline == Instant::max()) return std::nullopt;
  return std::min<std::chrono::nanoseconds>(deadline - now_, kLongestSleep);
}

void Loop::run() {
  stopped_ = false;
  run_uv();
  now_ = Clock::now();
  while (!stopped_) {
    const auto sleep = time_to_sleep();
    const auto timeout = to_kernel(sleep.value_or(std::chrono::nanoseconds{0}));
    const int count =
        epoll_pwait2(epoll_.get(), uv_->events.data(), kEventsPerTurn, sleep ? &timeout : nullptr, nullptr);
    HEADRACE_INVARIANT(count >= 0 || errno == EINTR);
    now_ = Clock::now();
    if (count > 0) last_event_ = now_;
    if (hooks_) hooks_->turn_began(now_);
    dispatch(count);
    if (hooks_) hooks_->turn_ended(now_);
  }
}

void Loop::dispatch(int count) {
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = uv_->events[static_cast<std::size_t>(i)];
    if (auto* watch = static_cast<Watch*>(event.data.ptr)) {
      if (watch->loop_) watch->watcher_->on_ready(watch->tag_, from_mask(event.events));
    } else {
      run_uv();
    }
  }
}

Watch::~Watch() { stop(); }

bool Watch::start(Loop& loop, const Fd& descriptor, Watcher& watcher, unsigned tag, Trigger trigger) {
  stop();
  epoll_event event{};
  event.events = trigger == Trigger::level
                     ? EPOLLIN
                     : EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | static_cast<std::uint32_t>(EPOLLET);
  event.data.ptr = this;
  watcher_ = &watcher;
  descriptor_ = descriptor.get();
  tag_ = tag;
  if (epoll_ctl(loop.epoll_.get(), EPOLL_CTL_ADD, descriptor_, &event) != 0) return false;
  loop_ = &loop;
  return true;
}

// Not left to close(): between fork and exec a child has the socket too, and its events would go on to name a
// watch that is gone.
void Watch::stop() {
  if (!loop_) return;
  epoll_ctl(loop_->epoll_.get(), EPOLL_CTL_DEL, descriptor_, nullptr);
  loop_ = nullptr;
}

struct Wakeup::Handle {
  uv_async_t uv{};
  std::function<void()> callback;
};

Wakeup::Wakeup(Loop& loop, std::function<void()> callback)
    : handle_{new Handle{.callback = std::move(callback)}} {
  const int status = uv_async_init(&loop.uv_->loop, &handle_->uv, [](uv_async_t* async) {
    if (async->data) static_cast<Handle*>(async->data)->callback();
  });
  check_uv("uv_async_init", status);
  handle_->uv.data = handle_;
}

Wakeup::~Wakeup() { close_handle(handle_); }

void Wakeup::wake() { uv_async_send(&handle_->uv); }

struct Signals::Handle {
  uv_signal_t uv{};
  std::function<void(int)> callback;
};

Signals::Signals(Loop& loop, std::initializer_list<int> numbers, std::function<void(int)> callback) {
  for (const int number : numbers) {
    auto* handle = new Handle{.callback = callback};
    check_uv("uv_signal_init", uv_signal_init(&loop.uv_->loop, &handle->uv));
    handle->uv.data = handle;
    handles_.push_back(handle);
    const int status = uv_signal_start(
        &handle->uv,
        [](uv_signal_t* signal, int received) {
          if (signal->data) static_cast<Handle*>(signal->data)->callback(received);
        },
        number);
    check_uv("uv_signal_start", status);
  }
}

Signals::~Signals() {
  for (Handle* handle : handles_) close_handle(handle);
}

}  // namespace headrace
