// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/lab/handle.hpp"
#include "bench/lab/namespace.hpp"

namespace headrace::lab {

using namespace std::chrono_literals;

// How a call on a socket ended. `done`: with all that was asked for.
enum class End { done, end_of_stream, reset, timed_out, refused, unreachable, broken_pipe, other };

const char* to_text(End end);
End end_of_errno(int error);  // `other` for what has no word above
std::ostream& operator<<(std::ostream& out, End end);

// Set before bind and connect or listen, in this order. Nothing set means the kernel's default.
struct SocketOptions {
  std::string bind;  // local endpoint to connect from, "198.18.1.2:0"
  std::optional<int> receive_buffer;
  std::optional<int> send_buffer;
  std::optional<int> mss;
  std::string congestion;
  bool nodelay = false;
  bool urgent_inline = false;  // SO_OOBINLINE
  bool transparent = false;    // IP_TRANSPARENT
  bool dual_stack = false;     // an IPv6 socket is for IPv4 too, as "[::ffff:198.18.2.2]:5000"
  bool reuse_port = false;
  int backlog = 128;
  std::chrono::nanoseconds timeout = 10s;  // for connect
};

struct Received {
  std::string bytes;
  End end = End::other;
};

// What tests ask of TCP_INFO. Times as the kernel counts them, sizes in bytes unless said otherwise.
struct TcpFacts {
  int state = 0;  // TCP_ESTABLISHED ... of netinet/tcp.h
  int send_mss = 0, receive_mss = 0, advertised_mss = 0;
  int send_window_scale = 0, receive_window_scale = 0;
  bool timestamps = false, sack = false, window_scaling = false, ecn = false;
  std::uint32_t congestion_window = 0, unacknowledged = 0, retransmits = 0;  // segments
  std::chrono::microseconds round_trip{0}, retransmission_timeout{0};
};

// A TCP socket that tests drive from the outside: every call blocks at most as long as it was told, and says
// how it ended. Lives where it was made: once open, any thread may use it without entering the namespace.
// Closing it is an ordinary close; reset() is not.
class Socket {
 public:
  // Throws when the connection doesn't come about; try_connect says why instead.
  static Socket connect(const Namespace& from, std::string_view to, const SocketOptions& options = {});
  struct Attempt;
  static Attempt try_connect(const Namespace& from, std::string_view to, const SocketOptions& options = {});

  static Socket connect(std::string_view to, const SocketOptions& options = {});  // from where the caller is

  // SO_REUSEADDR is on. Port 0 takes any: ask local_port().
  static Socket listen(const Namespace& where, std::string_view at, const SocketOptions& options = {});
  static Socket listen(std::string_view at, const SocketOptions& options = {});
  Socket accept(std::chrono::nanoseconds timeout = 10s) const;  // throws when nobody comes
  std::optional<Socket> try_accept(std::chrono::nanoseconds timeout) const;

  // Takes over a connected or listening descriptor.
  explicit Socket(Handle handle) : handle_(std::move(handle)) {}

  End send_all(std::string_view bytes, std::chrono::nanoseconds timeout = 10s) const;
  // One send(2) of as much as is taken now; 0 when nothing is. Throws on errors.
  std::size_t send_some(std::string_view bytes, int flags = 0) const;
  void send_urgent(char mark, std::chrono::nanoseconds timeout = 10s) const;  // throws when there is no room

  Received receive_exactly(std::size_t count, std::chrono::nanoseconds timeout = 10s) const;
  Received receive_to_end(std::chrono::nanoseconds timeout = 10s) const;
  // What one recv(2) gives, waiting for the first byte. `done` when there was some.
  Received receive_some(std::size_t limit, std::chrono::nanoseconds timeout = 10s, int flags = 0) const;
  bool at_mark() const;                                          // SIOCATMARK
  bool wait_for_data(std::chrono::nanoseconds timeout) const;    // POLLIN: also an end
  bool wait_for_urgent(std::chrono::nanoseconds timeout) const;  // POLLPRI

  void shutdown_write() const;
  void reset();  // closes with RST
  void close() { handle_.reset(); }

  std::string local() const;  // "198.18.1.2:40112"
  std::string peer() const;
  std::uint16_t local_port() const;
  std::uint16_t peer_port() const;

  void set_option(int level, int name, int value) const;
  int option(int level, int name) const;
  std::string congestion() const;
  TcpFacts tcp() const;
  std::size_t unread() const;          // FIONREAD
  std::size_t unacknowledged() const;  // SIOCOUTQ: bytes handed over that the other end has not acknowledged

  int descriptor() const { return handle_.get(); }
  explicit operator bool() const { return static_cast<bool>(handle_); }

 private:
  static Attempt attempt(Handle unconnected, std::string_view to, const SocketOptions& options);

  Handle handle_;
};

struct Socket::Attempt {
  End end = End::other;  // done: `socket` is connected
  int error = 0;         // errno
  Socket socket{Handle{}};
};

// `count` bytes that do not repeat themselves soon, the same for the same seed.
std::string pattern(std::size_t count, std::uint64_t seed = 1);

}  // namespace headrace::lab
