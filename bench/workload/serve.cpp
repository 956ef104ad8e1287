// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/workload/serve.hpp"

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>

namespace headrace::lab {
namespace {

void serve_one(const Socket& connection, const std::function<void(const Socket&)>& serve) {
  try {
    serve(connection);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
}

}  // namespace

void serve_each(const Socket& listener, const std::function<void(const Socket&)>& serve) {
  constexpr auto kForever = std::chrono::hours(24 * 365);
  while (true) {
    auto connection = std::make_shared<Socket>(listener.accept(kForever));
    std::thread([connection = std::move(connection), serve] { serve_one(*connection, serve); }).detach();
  }
}

void send_or_throw(const Socket& socket, std::string_view bytes, std::chrono::nanoseconds timeout) {
  const End end = socket.send_all(bytes, timeout);
  if (end != End::done) throw std::runtime_error(std::string("sending: ") + to_text(end));
}

std::string receive_or_throw(const Socket& socket, std::size_t count, std::chrono::nanoseconds timeout) {
  Received received = socket.receive_exactly(count, timeout);
  if (received.end == End::done) return std::move(received.bytes);
  throw std::runtime_error("receiving " + std::to_string(received.bytes.size()) + " of " +
                           std::to_string(count) + " bytes: " + to_text(received.end));
}

std::string as_bytes(std::uint64_t number) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>((number >> shift) & 0xff);
  return bytes;
}

std::uint64_t as_number(std::string_view eight_bytes) {
  std::uint64_t number = 0;
  for (const char byte : eight_bytes) number = number << 8 | static_cast<std::uint8_t>(byte);
  return number;
}

}  // namespace headrace::lab
