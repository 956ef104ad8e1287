// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "bench/lab/socket.hpp"

// Oracle's network layer (TNS) as its clients and servers speak it from 12c on, of our own, since Oracle
// itself cannot be had: connect, redirect, accept, the probe for urgent data at log-in (18c and later), data
// packets up to a large SDU, markers. Whoever is silent for ten seconds ends a call with an exception.
namespace headrace::tns {

enum class Type : std::uint8_t { connect = 1, accept = 2, redirect = 5, data = 6, marker = 12, control = 14 };
enum class Marker : std::uint8_t { interrupt = 1, reset = 2 };

inline constexpr std::uint32_t kSdu = 2 << 20;  // the largest that Oracle has
inline constexpr char kUrgent = '!';

struct Packet {
  Type type = Type::data;
  std::string body;
  bool operator==(const Packet&) const = default;
};

// One end of a connection. Lengths have two bytes until it was accepted, four afterwards.
class Channel {
 public:
  explicit Channel(lab::Socket socket) : socket_(std::move(socket)) {}

  void send(Type type, const std::string& body) const;
  void send_marker(Marker marker) const;
  Packet receive() const;
  std::string expect(Type type) const;  // the body; throws when the next packet is another
  void expect_marker(Marker marker) const;

  void use_long_lengths() { length_bytes_ = 4; }
  std::string framed(Type type, const std::string& body) const;
  const lab::Socket& socket() const { return socket_; }

 private:
  lab::Socket socket_;
  int length_bytes_ = 2;
};

// The body of a data packet of so many bytes, header and all, once it is accepted.
std::string data_of(std::size_t packet_size, std::uint64_t seed = 1);

// The client's part: connects, goes where redirects send it, probes for urgent data, logs in.
struct LoggedIn {
  Channel channel;
  int redirects = 0;
  bool urgent_works = false;  // what the server thinks of the probe
};
LoggedIn log_in(const lab::Namespace& from, std::string place);

// A listener's part: sends one client to another address.
void redirect(const lab::Socket& listener, const std::string& host, int port);

// What stands at an urgent mark, and whether the mark is where the next read begins.
struct Urgent {
  bool announced = false;
  bool next = false;
  std::string byte;
  bool operator==(const Urgent&) const = default;
};
// Waits at most `timeout` for the announcement; reads the byte, by the socket's SO_OOBINLINE.
Urgent take_urgent(const lab::Socket& socket, std::chrono::nanoseconds timeout = std::chrono::seconds{5});

// The server's part of a log-in, and what it saw of the probe.
struct Accepted {
  Channel channel;
  Urgent probe;
};
Accepted accept(const lab::Socket& listener);

}  // namespace headrace::tns
