// SPDX-License-Identifier: GPL-3.0-or-later
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "bench/lab/socket_address.hpp"
#include "bench/speed/load.hpp"

namespace headrace::lab {
namespace {

constexpr auto kPatience = 30s;  // for all of them
constexpr std::size_t kMessage = 64;

// Many short connections from one thread, which is inside the client's namespace.
class Churning {
 public:
  Churning(const Targets& targets, int count) : left_(count), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    checked(epoll_.get(), "epoll_create1");
    for (const std::string& target : targets) targets_.emplace_back(target);
  }

  void run(int parallel) {
    const Deadline deadline(kPatience);
    slots_.resize(static_cast<std::size_t>(parallel));
    for (Slot& slot : slots_) begin(slot);
    std::array<epoll_event, 256> events;
    while (open_ > 0) {
      if (deadline.passed()) throw std::runtime_error("connections: not done within 30 s");
      const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 1000);
      throw_if_interrupted();
      for (int i = 0; i < count; ++i)
        advance(*static_cast<Slot*>(events[static_cast<std::size_t>(i)].data.ptr));
    }
  }

 private:
  struct Slot {
    Handle socket;
    bool asked = false;
    std::size_t got = 0;
  };

  void begin(Slot& slot) {
    slot = {};
    if (left_ == 0) return;
    const SocketAddress& to = targets_[static_cast<std::size_t>(left_) % targets_.size()];
    --left_;
    ++open_;
    slot.socket =
        Handle(checked(socket(to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket"));
    if (connect(slot.socket.get(), to.get(), to.size()) != 0 && errno != EINPROGRESS) throw_errno("connect");
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | static_cast<std::uint32_t>(EPOLLET);
    event.data.ptr = &slot;
    checked(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, slot.socket.get(), &event), "epoll_ctl");
  }

  // Asks once it is connected, closes once it is answered.
  void advance(Slot& slot) {
    std::array<char, kMessage> buffer{};
    if (!slot.asked) {
      if (send(slot.socket.get(), buffer.data(), buffer.size(), MSG_NOSIGNAL) != kMessage) throw_errno("ask");
      slot.asked = true;
      return;
    }
    const ssize_t some = recv(slot.socket.get(), buffer.data(), buffer.size(), 0);
    if (some < 0 && errno == EAGAIN) return;
    if (some <= 0) throw_errno("answer");
    slot.got += static_cast<std::size_t>(some);
    if (slot.got < kMessage) return;
    --open_;
    begin(slot);
  }

  int left_;
  int open_ = 0;
  Handle epoll_;
  std::vector<SocketAddress> targets_;
  std::vector<Slot> slots_;
};

}  // namespace

std::chrono::nanoseconds churn(const Namespace& from, const Targets& targets, const Churn& load) {
  const auto start = std::chrono::steady_clock::now();
  from.run([&] { Churning(targets, load.count).run(load.parallel); });
  return std::chrono::steady_clock::now() - start;
}

}  // namespace headrace::lab
