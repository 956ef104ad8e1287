// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/databases/postgres_wire.hpp"

#include <stdexcept>

#include "tests/netns/databases/big_endian.hpp"

namespace headrace {
namespace {

constexpr std::uint32_t kVersion3 = 3 << 16;
constexpr std::uint32_t kCancel = (1234 << 16) + 5678;

void send(const lab::Socket& socket, const std::string& bytes) {
  if (socket.send_all(bytes) != lab::End::done) throw std::runtime_error{"postgres: nothing can be sent"};
}

// A length counts itself.
std::string with_length(const std::string& body) {
  return big_endian(static_cast<std::uint32_t>(body.size() + 4), 4) + body;
}

}  // namespace

PostgresWire::PostgresWire(const lab::Namespace& from, const std::string& place)
    : socket_{lab::Socket::connect(from, place)} {
  using std::string_literals::operator""s;
  send(socket_, with_length(big_endian(kVersion3, 4) + "user\0postgres\0database\0postgres\0\0"s));
  key_ = await('K').body;
  await('Z');
}

void PostgresWire::send_query(const std::string& sql) const {
  send(socket_, "Q" + with_length(sql + std::string(1, '\0')));
}

void PostgresWire::send_copy(const std::string& rows) const { send(socket_, "d" + with_length(rows)); }

std::optional<PostgresWire::Message> PostgresWire::next(std::chrono::nanoseconds timeout) const {
  const auto head = socket_.receive_exactly(5, timeout);
  if (head.end != lab::End::done) return std::nullopt;
  const std::size_t length = from_big_endian(head.bytes.substr(1));
  return Message{head.bytes[0], socket_.receive_exactly(length - 4, timeout).bytes};
}

PostgresWire::Message PostgresWire::await(char type) const {
  while (const auto message = next())
    if (message->type == type) return *message;
  throw std::runtime_error{"postgres: no message of type " + std::string(1, type)};
}

std::string PostgresWire::ask(const std::string& sql) const {
  send_query(sql);
  const std::string row = await('D').body;
  await('Z');
  std::string answer;
  std::size_t at = 2;  // behind the number of columns
  while (at < row.size()) {
    const std::size_t length = from_big_endian(row.substr(at, 4));
    answer += (answer.empty() ? "" : "|") + row.substr(at + 4, length);
    at += 4 + length;
  }
  return answer;
}

lab::End cancel(const lab::Namespace& from, const std::string& place, const std::string& key) {
  const auto socket = lab::Socket::connect(from, place);
  send(socket, with_length(big_endian(kCancel, 4) + key));
  return socket.receive_to_end().end;
}

}  // namespace headrace
