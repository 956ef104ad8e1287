// SPDX-License-Identifier: GPL-3.0-or-later
// headrace-floor LISTEN TO [LISTEN TO ...]: the least that a relay of sockets in user space can do, to be
// held against real ones: one thread, one epoll, each descriptor registered once; for a message one wait, one
// recv, one send; splice once reads come full. No socket option but NODELAY, no log, no counters, no limits,
// no half-close (the first end closes both), no reset, no urgent data. What costs less than this is not a
// relay; what costs more than this can be asked why. For the lab alone: it trusts both ends.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/lab/handle.hpp"
#include "bench/lab/socket_address.hpp"

namespace headrace::lab {
namespace {

constexpr int kBacklog = 4096;
// A fresh socket takes so much at once.
constexpr std::size_t kBuffer = 16 * 1024, kPipe = 256 * 1024;

std::array<char, kBuffer> buffer;

void set_nodelay(const Handle& socket) {
  const int on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// One way of a pair. `held`: in the pipe.
class Way {
 public:
  Way(const Handle& from, const Handle& to) : from_(from), to_(to) {}

  // False when it has ended and nothing is held.
  bool run() {
    while (true) {
      if (!flush()) return true;
      const ssize_t count = pipe_[1] ? fill() : copy();
      if (count == 0) return false;
      if (count < 0) return errno == EAGAIN;
      if (!pipe_[1]) return true;  // less than a buffer: all there was
    }
  }

 private:
  ssize_t copy() {
    const ssize_t count = recv(from_.get(), buffer.data(), buffer.size(), 0);
    if (count > 0 && send(to_.get(), buffer.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL) != count)
      throw std::runtime_error("a send took less than it was given: this relay keeps nothing");
    if (count == static_cast<ssize_t>(buffer.size())) open_pipe();
    return count;
  }

  void open_pipe() {
    std::array<int, 2> ends{};
    checked(pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC), "pipe2");
    pipe_ = {Handle(ends[0]), Handle(ends[1])};
    fcntl(ends[0], F_SETPIPE_SZ, kPipe);
  }

  ssize_t fill() {
    const ssize_t count =
        splice(from_.get(), nullptr, pipe_[1].get(), nullptr, kPipe, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
    if (count > 0) held_ += static_cast<std::size_t>(count);
    return count;
  }

  bool flush() {
    while (held_ > 0) {
      const ssize_t count =
          splice(pipe_[0].get(), nullptr, to_.get(), nullptr, held_, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
      if (count <= 0) return false;
      held_ -= static_cast<std::size_t>(count);
    }
    return true;
  }

  const Handle& from_;
  const Handle& to_;
  std::array<Handle, 2> pipe_;
  std::size_t held_ = 0;
};

struct Pair {
  Handle client, server;
  Way to_server{client, server}, to_client{server, client};
  enum class Phase { connecting, relaying, over } phase = Phase::connecting;
};

class Floor {
 public:
  Floor() : epoll_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {}

  void relay(const std::string& at, const std::string& to) {
    const SocketAddress address(at);
    Handle socket(
        checked(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket"));
    const int on = 1;
    setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    checked(bind(socket.get(), address.get(), address.size()), "bind");
    checked(listen(socket.get(), kBacklog), "listen");
    listeners_.push_back(std::make_unique<Listening>(Listening{std::move(socket), SocketAddress(to)}));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = reinterpret_cast<std::uint64_t>(listeners_.back().get()) | kListener;
    checked(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, listeners_.back()->socket.get(), &event), "epoll_ctl");
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 256> events;
    while (true) {
      const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        const std::uint64_t data = event.data.u64;
        if ((data & kListener) != 0) {
          accept_one(*reinterpret_cast<Listening*>(data & ~kListener));
          continue;
        }
        Pair& pair = *reinterpret_cast<Pair*>(data & ~kServer);
        if (pair.phase == Pair::Phase::connecting && (data & kServer) != 0 && (event.events & EPOLLOUT) != 0)
          pair.phase = Pair::Phase::relaying;
        if (pair.phase == Pair::Phase::relaying) serve(pair);
      }
      over_.clear();
    }
  }

 private:
  static constexpr std::uint64_t kListener = 1, kServer = 2;  // beside a pointer

  struct Listening {
    Handle socket;
    SocketAddress to;
  };

  void accept_one(const Listening& listening) {
    Handle client(accept4(listening.socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!client) return;
    auto* pair = new Pair;  // serve() deletes it
    pair->client = std::move(client);
    pair->server = Handle(
        checked(socket(listening.to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket"));
    set_nodelay(pair->client);
    set_nodelay(pair->server);
    if (connect(pair->server.get(), listening.to.get(), listening.to.size()) != 0 && errno != EINPROGRESS)
      throw_errno("connect");
    watch(pair->client, *pair, 0);
    watch(pair->server, *pair, kServer);
  }

  void watch(const Handle& socket, Pair& pair, std::uint64_t side) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | static_cast<std::uint32_t>(EPOLLET);
    event.data.u64 = reinterpret_cast<std::uint64_t>(&pair) | side;
    checked(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket.get(), &event), "epoll_ctl");
  }

  void serve(Pair& pair) {
    if (pair.to_server.run() && pair.to_client.run()) return;
    pair.phase = Pair::Phase::over;  // a later event of this turn may still name it
    over_.emplace_back(&pair);
    pair.client.reset();
    pair.server.reset();
  }

  Handle epoll_;
  std::vector<std::unique_ptr<Listening>> listeners_;
  std::vector<std::unique_ptr<Pair>> over_;
};

}  // namespace
}  // namespace headrace::lab

int main(int count, char** words) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    headrace::lab::Floor floor;
    if (count < 3 || count % 2 == 0)
      throw std::runtime_error("usage: headrace-floor LISTEN TO [LISTEN TO ...]");
    for (int i = 1; i + 1 < count; i += 2) floor.relay(words[i], words[i + 1]);
    floor.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "headrace-floor: %s\n", error.what());
    return 1;
  }
}
