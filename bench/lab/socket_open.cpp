// SPDX-License-Identifier: GPL-3.0-or-later
// How sockets of the lab come to be; what they then do is in socket.cpp.
#include "bench/lab/socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "bench/lab/socket_address.hpp"

namespace headrace::lab {
namespace {

bool would_block() { return errno == EAGAIN || errno == EINTR; }

void set(int fd, int level, int name, int value) {
  checked(setsockopt(fd, level, name, &value, sizeof value), "setsockopt");
}

void set_transparent(int fd, int family) {
  if (family == AF_INET6) {
    set(fd, SOL_IPV6, IPV6_TRANSPARENT, 1);
  } else {
    set(fd, SOL_IP, IP_TRANSPARENT, 1);
  }
}

Handle make_socket(int family) {
  return Handle(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

Handle prepare(Handle handle, int family, const SocketOptions& options) {
  const int fd = checked(handle.get(), "socket");
  set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  if (family == AF_INET6) set(fd, SOL_IPV6, IPV6_V6ONLY, options.dual_stack ? 0 : 1);
  if (options.reuse_port) set(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  if (options.receive_buffer) set(fd, SOL_SOCKET, SO_RCVBUF, *options.receive_buffer);
  if (options.send_buffer) set(fd, SOL_SOCKET, SO_SNDBUF, *options.send_buffer);
  if (options.mss) set(fd, IPPROTO_TCP, TCP_MAXSEG, *options.mss);
  if (options.nodelay) set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  if (options.urgent_inline) set(fd, SOL_SOCKET, SO_OOBINLINE, 1);
  if (options.transparent) set_transparent(fd, family);
  if (!options.congestion.empty()) {
    checked(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, options.congestion.data(),
                       static_cast<socklen_t>(options.congestion.size())),
            "TCP_CONGESTION");
  }
  return handle;
}

void bind_to(int fd, const SocketAddress& address) {
  if (::bind(fd, address.get(), address.size()) != 0) throw_errno("bind " + address.text());
}

// 0, or the errno with which connecting ended.
int connect_within(int fd, const SocketAddress& to, const Deadline& deadline) {
  if (::connect(fd, to.get(), to.size()) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!wait_for(fd, POLLOUT, deadline)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  checked(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size), "SO_ERROR");
  return error;
}

}  // namespace

Socket::Attempt Socket::try_connect(const Namespace& from, std::string_view to,
                                    const SocketOptions& options) {
  return attempt(from.run([&] { return make_socket(SocketAddress(to).family()); }), to, options);
}

Socket::Attempt Socket::attempt(Handle unconnected, std::string_view to, const SocketOptions& options) {
  const SocketAddress target(to);
  Handle handle = prepare(std::move(unconnected), target.family(), options);
  if (!options.bind.empty()) bind_to(handle.get(), SocketAddress(options.bind));
  const int error = connect_within(handle.get(), target, Deadline(options.timeout));
  if (error != 0) return {end_of_errno(error), error, Socket(Handle{})};
  return {End::done, 0, Socket(std::move(handle))};
}

Socket Socket::connect(const Namespace& from, std::string_view to, const SocketOptions& options) {
  return from.run([&] { return connect(to, options); });
}

Socket Socket::connect(std::string_view to, const SocketOptions& options) {
  Attempt made = attempt(make_socket(SocketAddress(to).family()), to, options);
  if (made.end != End::done) {
    throw std::system_error(made.error, std::generic_category(), "connect to " + std::string(to));
  }
  return std::move(made.socket);
}

Socket Socket::listen(const Namespace& where, std::string_view at, const SocketOptions& options) {
  return where.run([&] { return listen(at, options); });
}

Socket Socket::listen(std::string_view at, const SocketOptions& options) {
  const SocketAddress address(at);
  Handle handle = prepare(make_socket(address.family()), address.family(), options);
  bind_to(handle.get(), address);
  if (::listen(handle.get(), options.backlog) != 0) throw_errno("listen " + std::string(at));
  return Socket(std::move(handle));
}

std::optional<Socket> Socket::try_accept(std::chrono::nanoseconds timeout) const {
  const Deadline deadline(timeout);
  while (wait_for(handle_.get(), POLLIN, deadline)) {
    Handle accepted(::accept4(handle_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (accepted) return Socket(std::move(accepted));
    if (!would_block() && errno != ECONNABORTED) throw_errno("accept");
  }
  return std::nullopt;
}

Socket Socket::accept(std::chrono::nanoseconds timeout) const {
  std::optional<Socket> accepted = try_accept(timeout);
  if (!accepted) throw std::runtime_error("nobody connected to " + local());
  return std::move(*accepted);
}

}  // namespace headrace::lab
