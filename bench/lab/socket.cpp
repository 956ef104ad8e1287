// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/socket.hpp"

#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ostream>
#include <random>
#include <stdexcept>

#include "bench/lab/socket_address.hpp"

namespace headrace::lab {
namespace {

constexpr std::size_t kReadSize = 256 * 1024;

bool would_block() { return errno == EAGAIN || errno == EINTR; }

void set(int fd, int level, int name, int value) {
  checked(setsockopt(fd, level, name, &value, sizeof value), "setsockopt");
}

SocketAddress address_of(int fd, int (*ask)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  checked(ask(fd, static_cast<sockaddr*>(static_cast<void*>(&storage)), &size), "socket address");
  return SocketAddress(storage);
}

std::size_t ask_queue(int fd, unsigned long request) {
  int value = 0;
  checked(ioctl(fd, request, &value), "ioctl");
  return static_cast<std::size_t>(value);
}

}  // namespace

const char* to_text(End end) {
  switch (end) {
    case End::done:
      return "done";
    case End::end_of_stream:
      return "end of stream";
    case End::reset:
      return "reset";
    case End::timed_out:
      return "timed out";
    case End::refused:
      return "refused";
    case End::unreachable:
      return "unreachable";
    case End::broken_pipe:
      return "broken pipe";
    case End::other:
      break;
  }
  return "another error";
}

End end_of_errno(int error) {
  switch (error) {
    case ECONNRESET:
      return End::reset;
    case EPIPE:
      return End::broken_pipe;
    case ECONNREFUSED:
      return End::refused;
    case ETIMEDOUT:
      return End::timed_out;
    case EHOSTUNREACH:
    case ENETUNREACH:
      return End::unreachable;
    default:
      return End::other;
  }
}

std::ostream& operator<<(std::ostream& out, End end) { return out << to_text(end); }

End Socket::send_all(std::string_view bytes, std::chrono::nanoseconds timeout) const {
  const Deadline deadline(timeout);
  while (!bytes.empty()) {
    const ssize_t sent = ::send(handle_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (!would_block()) {
      return end_of_errno(errno);
    } else if (!wait_for(handle_.get(), POLLOUT, deadline)) {
      return End::timed_out;
    }
  }
  return End::done;
}

std::size_t Socket::send_some(std::string_view bytes, int flags) const {
  const ssize_t sent = ::send(handle_.get(), bytes.data(), bytes.size(), flags | MSG_NOSIGNAL);
  if (sent < 0 && !would_block()) throw_errno("send");
  return sent < 0 ? 0 : static_cast<std::size_t>(sent);
}

void Socket::send_urgent(char mark, std::chrono::nanoseconds timeout) const {
  const Deadline deadline(timeout);
  while (send_some({&mark, 1}, MSG_OOB) != 1)
    if (!wait_for(handle_.get(), POLLOUT, deadline)) throw std::runtime_error("no room for an urgent byte");
}

Received Socket::receive_some(std::size_t limit, std::chrono::nanoseconds timeout, int flags) const {
  const Deadline deadline(timeout);
  Received result;
  result.bytes.resize(limit);
  while (true) {
    const ssize_t got = ::recv(handle_.get(), result.bytes.data(), limit, flags | MSG_DONTWAIT);
    if (got < 0 && would_block()) {
      if (wait_for(handle_.get(), POLLIN, deadline)) continue;
      result.end = End::timed_out;
    } else {
      result.end = got < 0 ? end_of_errno(errno) : got == 0 ? End::end_of_stream : End::done;
    }
    result.bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return result;
  }
}

Received Socket::receive_exactly(std::size_t count, std::chrono::nanoseconds timeout) const {
  const Deadline deadline(timeout);
  Received all{{}, End::done};
  while (all.bytes.size() < count && all.end == End::done) {
    const Received some = receive_some(std::min(count - all.bytes.size(), kReadSize), deadline.left());
    all.bytes += some.bytes;
    all.end = some.end;
  }
  return all;
}

Received Socket::receive_to_end(std::chrono::nanoseconds timeout) const {
  return receive_exactly(std::string().max_size(), timeout);
}

bool Socket::at_mark() const { return ask_queue(handle_.get(), SIOCATMARK) != 0; }

bool Socket::wait_for_data(std::chrono::nanoseconds timeout) const {
  return wait_for(handle_.get(), POLLIN, Deadline(timeout));
}

bool Socket::wait_for_urgent(std::chrono::nanoseconds timeout) const {
  const Deadline deadline(timeout);
  pollfd watched{handle_.get(), POLLPRI, 0};
  return wait_for(handle_.get(), POLLPRI, deadline) && poll(&watched, 1, 0) == 1 &&
         (watched.revents & POLLPRI) != 0;
}

void Socket::shutdown_write() const { checked(::shutdown(handle_.get(), SHUT_WR), "shutdown"); }

void Socket::reset() {
  const linger at_once{1, 0};
  checked(setsockopt(handle_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), "SO_LINGER");
  handle_.reset();
}

std::string Socket::local() const { return address_of(handle_.get(), getsockname).text(); }
std::string Socket::peer() const { return address_of(handle_.get(), getpeername).text(); }
std::uint16_t Socket::local_port() const { return address_of(handle_.get(), getsockname).port(); }
std::uint16_t Socket::peer_port() const { return address_of(handle_.get(), getpeername).port(); }

void Socket::set_option(int level, int name, int value) const { set(handle_.get(), level, name, value); }

int Socket::option(int level, int name) const {
  int value = 0;
  socklen_t size = sizeof value;
  checked(getsockopt(handle_.get(), level, name, &value, &size), "getsockopt");
  return value;
}

std::string Socket::congestion() const {
  std::array<char, 16> name{};
  socklen_t size = name.size();
  checked(getsockopt(handle_.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(), &size), "TCP_CONGESTION");
  return name.data();
}

TcpFacts Socket::tcp() const {
  tcp_info info{};
  socklen_t size = sizeof info;
  checked(getsockopt(handle_.get(), IPPROTO_TCP, TCP_INFO, &info, &size), "TCP_INFO");
  TcpFacts facts;
  facts.state = info.tcpi_state;
  facts.send_mss = static_cast<int>(info.tcpi_snd_mss);
  facts.receive_mss = static_cast<int>(info.tcpi_rcv_mss);
  facts.advertised_mss = static_cast<int>(info.tcpi_advmss);
  facts.send_window_scale = info.tcpi_snd_wscale;
  facts.receive_window_scale = info.tcpi_rcv_wscale;
  facts.timestamps = (info.tcpi_options & TCPI_OPT_TIMESTAMPS) != 0;
  facts.sack = (info.tcpi_options & TCPI_OPT_SACK) != 0;
  facts.window_scaling = (info.tcpi_options & TCPI_OPT_WSCALE) != 0;
  facts.ecn = (info.tcpi_options & TCPI_OPT_ECN) != 0;
  facts.congestion_window = info.tcpi_snd_cwnd;
  facts.unacknowledged = info.tcpi_unacked;
  facts.retransmits = info.tcpi_total_retrans;
  facts.round_trip = std::chrono::microseconds(info.tcpi_rtt);
  facts.retransmission_timeout = std::chrono::microseconds(info.tcpi_rto);
  return facts;
}

std::size_t Socket::unread() const { return ask_queue(handle_.get(), FIONREAD); }
std::size_t Socket::unacknowledged() const { return ask_queue(handle_.get(), SIOCOUTQ); }

std::string pattern(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes(count, '\0');
  for (std::size_t at = 0; at < count; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = random();
    std::memcpy(bytes.data() + at, &word, std::min(sizeof word, count - at));
  }
  return bytes;
}

}  // namespace headrace::lab
