// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/ends.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <unordered_map>
#include <vector>

#include "bench/lab/inline_lab.hpp"
#include "bench/speed/usage.hpp"

namespace headrace::lab {
namespace {

constexpr std::size_t kEchoBuffer = 16 * 1024, kBulkBlock = 256 * 1024;
constexpr int kBacklog = 4096;
constexpr int kGlance = 100;  // milliseconds until the bulk server sees that it shall stop

Socket listen_everywhere(const Namespace& where, int port) {
  SocketOptions options;
  options.backlog = kBacklog;
  options.nodelay = true;
  return Socket::listen(where, endpoint("0.0.0.0", port), options);
}

void watch(const Handle& epoll, int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  checked(epoll_ctl(epoll.get(), EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
}

// False when the connection is over.
bool echo_once(int descriptor) {
  std::array<char, kEchoBuffer> buffer;
  const ssize_t size = recv(descriptor, buffer.data(), buffer.size(), 0);
  if (size < 0) return errno == EAGAIN || errno == EINTR;
  return size > 0 && send(descriptor, buffer.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL) == size;
}

}  // namespace

EchoServer::EchoServer(const Namespace& where, int port, std::optional<int> cpu)
    : listener_(listen_everywhere(where, port)),
      epoll_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      stop_(checked(eventfd(0, EFD_CLOEXEC), "eventfd")) {
  watch(epoll_, listener_.descriptor());
  watch(epoll_, stop_.get());
  thread_ = std::thread([this, cpu] {
    leave_signals_to_the_main_thread();
    if (cpu) pin_this_thread(*cpu);
    serve();
  });
}

EchoServer::~EchoServer() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

void EchoServer::serve() {
  std::unordered_map<int, Handle> connections;
  std::array<epoll_event, 256> events;
  while (true) {
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const int descriptor = events[static_cast<std::size_t>(i)].data.fd;
      if (descriptor == stop_.get()) return;
      if (descriptor != listener_.descriptor()) {
        if (!echo_once(descriptor)) connections.erase(descriptor);
        continue;
      }
      Handle accepted(accept4(descriptor, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!accepted) continue;
      watch(epoll_, accepted.get());
      const int number = accepted.get();
      connections.insert_or_assign(number, std::move(accepted));
    }
  }
}

BulkServer::BulkServer(const Namespace& where, int port) : listener_(listen_everywhere(where, port)) {
  thread_ = std::thread([this] {
    leave_signals_to_the_main_thread();
    serve();
  });
}

BulkServer::~BulkServer() {
  stopping_ = true;
  thread_.join();
}

// Not Socket's accept: that would throw here when the program is interrupted, and the main thread not hear
// of it.
void BulkServer::serve() {
  const std::vector<char> block(kBulkBlock, 'x');
  while (!stopping_) {
    pollfd waiting{listener_.descriptor(), POLLIN, 0};
    if (poll(&waiting, 1, kGlance) <= 0) continue;
    const Socket connection{Handle(accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC))};
    if (!connection) continue;
    make_blocking(connection, 2s);
    while (!stopping_ && send(connection.descriptor(), block.data(), block.size(), MSG_NOSIGNAL) > 0) {
    }
  }
}

void make_blocking(const Socket& socket, std::chrono::seconds patience) {
  const int fd = socket.descriptor();
  checked(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK), "fcntl");
  const timeval time{patience.count(), 0};
  checked(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time), "SO_RCVTIMEO");
  checked(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time), "SO_SNDTIMEO");
}

}  // namespace headrace::lab
