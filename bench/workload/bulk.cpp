// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/workload/bulk.hpp"

#include <algorithm>
#include <stdexcept>

#include "bench/workload/serve.hpp"

namespace headrace::lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBlock = 256 * 1024;

// FNV-1a over bytes.
class Checksum {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) value_ = (value_ ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

// The stream is one block again and again; the checksum minds where in it a byte stands.
std::uint64_t send_stream(const Socket& socket, std::uint64_t size, std::uint64_t seed,
                          const Deadline& deadline) {
  const std::string block = pattern(kBlock, seed);
  Checksum checksum;
  for (std::uint64_t left = size; left > 0; left -= std::min<std::uint64_t>(left, kBlock)) {
    const std::string_view piece = std::string_view(block).substr(0, std::min<std::uint64_t>(left, kBlock));
    send_or_throw(socket, piece, deadline.left());
    checksum.add(piece);
  }
  return checksum.value();
}

std::uint64_t receive_stream(const Socket& socket, std::uint64_t size, const Deadline& deadline) {
  Checksum checksum;
  for (std::uint64_t left = size; left > 0;) {
    const Received some = socket.receive_some(std::min<std::uint64_t>(left, kBlock), deadline.left());
    if (some.end != End::done) {
      throw std::runtime_error(std::to_string(left) + " bytes short: " + to_text(some.end));
    }
    checksum.add(some.bytes);
    left -= some.bytes.size();
  }
  return checksum.value();
}

}  // namespace

double BulkReport::rate() const {
  const double seconds = std::chrono::duration<double>(time).count();
  return seconds > 0 ? static_cast<double>(bytes) * 8 / seconds : 0;
}

// Both ends tell the other their checksum at the end, so that an upload is over when all of it was received.
BulkReport run_bulk(const std::string& server, const BulkSettings& settings) {
  SocketOptions options;
  options.congestion = settings.congestion;
  const Socket socket = Socket::connect(server, options);
  const Deadline deadline(settings.timeout);
  const bool up = settings.direction == BulkDirection::upload;
  const auto start = Clock::now();
  send_or_throw(socket, as_bytes(up ? 1 : 0) + as_bytes(settings.size) + as_bytes(settings.seed),
                deadline.left());
  const std::uint64_t ours = up ? send_stream(socket, settings.size, settings.seed, deadline)
                                : receive_stream(socket, settings.size, deadline);
  const std::uint64_t theirs = as_number(receive_or_throw(socket, 8, deadline.left()));
  return {settings.size, Clock::now() - start, ours == theirs};
}

void serve_bulk(const Socket& connection) {
  const Deadline deadline(std::chrono::hours(1));
  const std::string header = receive_or_throw(connection, 24, deadline.left());
  const auto number = [&](std::size_t at) { return as_number(std::string_view(header).substr(at, 8)); };
  const std::uint64_t checksum = number(0) == 1 ? receive_stream(connection, number(8), deadline)
                                                : send_stream(connection, number(8), number(16), deadline);
  send_or_throw(connection, as_bytes(checksum), deadline.left());
}

}  // namespace headrace::lab
