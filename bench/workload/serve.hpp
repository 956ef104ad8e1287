// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include "bench/lab/socket.hpp"

namespace headrace::lab {

// Accepts for ever; each connection gets a thread, which ends with it. Whoever serves is a program of its own
// (or a thread of a test that dies with it), so nothing here stops. A connection's exception ends that
// connection alone.
[[noreturn]] void serve_each(const Socket& listener, const std::function<void(const Socket&)>& serve);

// Sends or throws std::runtime_error that says how it ended; receives so many bytes or throws likewise.
void send_or_throw(const Socket& socket, std::string_view bytes, std::chrono::nanoseconds timeout);
std::string receive_or_throw(const Socket& socket, std::size_t count, std::chrono::nanoseconds timeout);

// A number as eight bytes, big-endian: what the workloads tell each other first.
std::string as_bytes(std::uint64_t number);
std::uint64_t as_number(std::string_view eight_bytes);

}  // namespace headrace::lab
