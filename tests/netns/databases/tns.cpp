// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/databases/tns.hpp"

#include <sys/socket.h>

#include <stdexcept>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "bench/lab/inline_lab.hpp"
#include "tests/netns/databases/big_endian.hpp"

namespace headrace::tns {
namespace {

constexpr std::size_t kHeader = 8;
constexpr std::uint32_t kVersion = 319, kOldestVersion = 300;
constexpr std::uint32_t kCheckUrgent = 1;  // flag of connect and accept: the client may probe
constexpr int kMostRedirects = 3;
const std::string kConnectData = "(DESCRIPTION=(CONNECT_DATA=(SERVICE_NAME=lab)))";
const std::string kUrgentIsLost = "reset";  // what the control packet means here

std::string zeros(std::size_t count) { return std::string(count, '\0'); }

std::string connect_body() {
  const std::string numbers = big_endian(kVersion, 2) + big_endian(kOldestVersion, 2) + zeros(2) +
                              big_endian(0xffff, 2) + big_endian(0xffff, 2) + zeros(6) +
                              big_endian(static_cast<std::uint32_t>(kConnectData.size()), 2);
  const std::string offset = big_endian(static_cast<std::uint32_t>(kHeader + 66), 2);
  return numbers + offset + zeros(4 + 2 + 24) + big_endian(kSdu, 4) + big_endian(kSdu, 4) + zeros(4) +
         big_endian(kCheckUrgent, 4) + kConnectData;
}

std::string accept_body() {
  return big_endian(kVersion, 2) + zeros(2 + 10 + 1 + 9) + big_endian(kSdu, 4) + zeros(5) +
         big_endian(kCheckUrgent, 4);
}

// "(HOST=a)" -> "a"
std::string value_of(const std::string& text, const std::string& key) {
  const auto at = text.find("(" + key + "=");
  if (at == std::string::npos) throw std::runtime_error{"tns: no " + key + " in " + text};
  const auto begin = at + key.size() + 2;
  return text.substr(begin, text.find(')', begin) - begin);
}

std::string place_of(const std::string& redirect_body) {
  const std::string address = redirect_body.substr(2, from_big_endian(redirect_body.substr(0, 2)));
  return lab::endpoint(value_of(address, "HOST"), std::stoi(value_of(address, "PORT")));
}

}  // namespace

std::string Channel::framed(Type type, const std::string& body) const {
  const auto size = static_cast<std::uint32_t>(kHeader + body.size());
  const std::string length = length_bytes_ == 4 ? big_endian(size, 4) : big_endian(size, 2) + zeros(2);
  return length + static_cast<char>(type) + zeros(3) + body;
}

void Channel::send(Type type, const std::string& body) const {
  if (socket_.send_all(framed(type, body)) != lab::End::done)
    throw std::runtime_error{"tns: nothing can be sent"};
}

void Channel::send_marker(Marker marker) const {
  send(Type::marker, std::string{'\1', '\0', static_cast<char>(marker)});
}

Packet Channel::receive() const {
  const auto head = socket_.receive_exactly(kHeader);
  if (head.end != lab::End::done) throw std::runtime_error{"tns: no packet"};
  const std::size_t size = from_big_endian(head.bytes.substr(0, static_cast<std::size_t>(length_bytes_)));
  if (size < kHeader) throw std::runtime_error{"tns: a packet of " + std::to_string(size) + " bytes"};
  return {static_cast<Type>(head.bytes[4]), socket_.receive_exactly(size - kHeader).bytes};
}

std::string Channel::expect(Type type) const {
  const Packet packet = receive();
  if (packet.type == type) return packet.body;
  throw std::runtime_error{"tns: a packet of type " + std::to_string(static_cast<int>(packet.type)) +
                           " instead of " + std::to_string(static_cast<int>(type))};
}

void Channel::expect_marker(Marker marker) const {
  if (expect(Type::marker).back() != static_cast<char>(marker))
    throw std::runtime_error{"tns: another marker"};
}

std::string data_of(std::size_t packet_size, std::uint64_t seed) {
  return lab::pattern(packet_size - kHeader, seed);
}

LoggedIn log_in(const lab::Namespace& from, std::string place) {
  for (int redirects = 0; redirects <= kMostRedirects; ++redirects) {
    LoggedIn client{Channel{lab::Socket::connect(from, place)}, redirects};
    client.channel.socket().set_option(IPPROTO_TCP, TCP_NODELAY, 1);
    client.channel.send(Type::connect, connect_body());
    const Packet answer = client.channel.receive();
    if (answer.type == Type::redirect) {
      place = place_of(answer.body);
      continue;
    }
    if (answer != Packet{Type::accept, accept_body()}) throw std::runtime_error{"tns: not accepted"};
    client.channel.use_long_lengths();
    client.channel.socket().send_urgent(kUrgent);
    client.channel.send_marker(Marker::reset);
    client.channel.send(Type::data, "what can you do?");
    client.urgent_works = client.channel.receive().type != Type::control;
    if (!client.urgent_works) client.channel.expect(Type::data);
    return client;
  }
  throw std::runtime_error{"tns: redirected for ever"};
}

void redirect(const lab::Socket& listener, const std::string& host, int port) {
  const Channel channel{listener.accept()};
  channel.expect(Type::connect);
  const std::string data = "(ADDRESS=(PROTOCOL=TCP)(HOST=" + host + ")(PORT=" + std::to_string(port) + "))" +
                           zeros(1) + kConnectData;
  channel.send(Type::redirect, big_endian(static_cast<std::uint32_t>(data.size()), 2) + data);
  channel.socket().receive_to_end();
}

Urgent take_urgent(const lab::Socket& socket, std::chrono::nanoseconds timeout) {
  Urgent urgent;
  urgent.announced = socket.wait_for_urgent(timeout);
  if (!urgent.announced) return urgent;
  urgent.next = socket.at_mark();
  const bool in_line = socket.option(SOL_SOCKET, SO_OOBINLINE) != 0;
  urgent.byte = socket.receive_some(1, timeout, in_line ? 0 : MSG_OOB).bytes;
  return urgent;
}

Accepted accept(const lab::Socket& listener) {
  Accepted server{Channel{listener.accept()}, {}};
  Channel& channel = server.channel;
  if (channel.expect(Type::connect) != connect_body()) throw std::runtime_error{"tns: another connect"};
  channel.send(Type::accept, accept_body());
  channel.use_long_lengths();
  server.probe = take_urgent(channel.socket());
  channel.expect_marker(Marker::reset);
  channel.expect(Type::data);
  if (!server.probe.announced) channel.send(Type::control, kUrgentIsLost);
  channel.send(Type::data, "all of it");
  return server;
}

}  // namespace headrace::tns
