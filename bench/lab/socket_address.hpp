// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace headrace::lab {

// "198.18.2.2:5000", "[2001:db8:2::2]:5000" or "[fe80::2%3]:5000" (3 is an interface's index) for the kernel,
// and back. A pure value. No names.
class SocketAddress {
 public:
  SocketAddress() = default;
  explicit SocketAddress(std::string_view endpoint);  // throws std::invalid_argument
  explicit SocketAddress(const sockaddr_storage& from) : storage_(from) {}

  int family() const { return storage_.ss_family; }
  const sockaddr* get() const;
  socklen_t size() const;

  std::string host() const;  // without brackets
  std::uint16_t port() const;
  std::string text() const;  // as written above

 private:
  sockaddr_storage storage_{};
};

}  // namespace headrace::lab
