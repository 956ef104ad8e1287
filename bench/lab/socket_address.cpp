// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/socket_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <charconv>
#include <cstring>
#include <stdexcept>

namespace headrace::lab {
namespace {

template <typename Number>
Number parse_number(std::string_view digits, std::string_view whole) {
  Number number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    throw std::invalid_argument("not an endpoint: " + std::string(whole));
  }
  return number;
}

template <typename Family>
Family as(const sockaddr_storage& storage) {
  Family address{};
  std::memcpy(&address, &storage, sizeof address);
  return address;
}

}  // namespace

SocketAddress::SocketAddress(std::string_view endpoint) {
  const std::size_t colon = endpoint.rfind(':');
  if (colon == std::string_view::npos) throw std::invalid_argument("no port in " + std::string(endpoint));
  const std::uint16_t port = htons(parse_number<std::uint16_t>(endpoint.substr(colon + 1), endpoint));
  std::string host(endpoint.substr(0, colon));
  bool good = false;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = port;
    host = host.substr(1, host.size() - 2);
    if (const std::size_t percent = host.find('%'); percent != std::string::npos) {
      address.sin6_scope_id = parse_number<std::uint32_t>(host.substr(percent + 1), endpoint);
      host.resize(percent);
    }
    good = inet_pton(AF_INET6, host.c_str(), &address.sin6_addr) == 1;
    std::memcpy(&storage_, &address, sizeof address);
  } else {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = port;
    good = inet_pton(AF_INET, host.c_str(), &address.sin_addr) == 1;
    std::memcpy(&storage_, &address, sizeof address);
  }
  if (!good) throw std::invalid_argument("not an endpoint: " + std::string(endpoint));
}

const sockaddr* SocketAddress::get() const {
  return static_cast<const sockaddr*>(static_cast<const void*>(&storage_));
}

socklen_t SocketAddress::size() const {
  return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

std::string SocketAddress::host() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (family() == AF_INET6) {
    const auto address = as<sockaddr_in6>(storage_);
    inet_ntop(AF_INET6, &address.sin6_addr, text.data(), text.size());
  } else if (family() == AF_INET) {
    const auto address = as<sockaddr_in>(storage_);
    inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
  }
  return text.data();
}

std::uint16_t SocketAddress::port() const {
  return ntohs(family() == AF_INET6 ? as<sockaddr_in6>(storage_).sin6_port
                                    : as<sockaddr_in>(storage_).sin_port);
}

std::string SocketAddress::text() const {
  const std::uint32_t scope = family() == AF_INET6 ? as<sockaddr_in6>(storage_).sin6_scope_id : 0;
  const std::string zone = scope == 0 ? "" : "%" + std::to_string(scope);
  const std::string name = family() == AF_INET6 ? "[" + host() + zone + "]" : host();
  return name + ":" + std::to_string(port());
}

}  // namespace headrace::lab
