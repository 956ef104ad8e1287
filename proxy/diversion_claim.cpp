// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/diversion_claim.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace headrace {
namespace {

using namespace std::string_view_literals;

// Without a file: the kernel keeps such names per network namespace, as it keeps the rules.
constexpr std::string_view kClaim = "\0headrace-diversion"sv;

std::string holder_of_claim(const sockaddr* address, socklen_t length) {
  // Nobody accepts: once the queue is full of those who asked before, a blocking connect would wait for ever.
  const Fd asking{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  ucred holder{};
  socklen_t size = sizeof holder;
  if (::connect(asking.get(), address, length) != 0 ||
      ::getsockopt(asking.get(), SOL_SOCKET, SO_PEERCRED, &holder, &size) != 0)
    return "unknown process";
  return "pid " + std::to_string(holder.pid) + ", uid " + std::to_string(holder.uid);
}

}  // namespace

DiversionClaim::DiversionClaim() : socket_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, kClaim.data(), kClaim.size());
  const auto* address = reinterpret_cast<const sockaddr*>(&name);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + kClaim.size());
  if (::bind(socket_.get(), address, length) == 0 && ::listen(socket_.get(), 1) == 0) return;
  if (errno != EADDRINUSE)
    throw std::runtime_error{"claim the diversion: " + std::system_category().message(errno)};
  throw std::runtime_error{"another headrace intercepts in this network namespace (" +
                           holder_of_claim(address, length) + ")"};
}

}  // namespace headrace
