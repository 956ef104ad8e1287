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

struct Name {
  sockaddr_un unix{};
  Name() {
    unix.sun_family = AF_UNIX;
    std::memcpy(unix.sun_path, kClaim.data(), kClaim.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&unix); }
  static constexpr auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + kClaim.size());
};

}  // namespace

DiversionClaim::DiversionClaim() : socket_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
  const Name name;
  if (::bind(socket_.get(), name.get(), Name::size) == 0 && ::listen(socket_.get(), 1) == 0) return;
  if (errno != EADDRINUSE)
    throw std::runtime_error{"claim the diversion: " + std::system_category().message(errno)};
  throw std::runtime_error{"another headrace intercepts in this network namespace (" +
                           print(diversion_holder().value_or(DiversionHolder{})) + ")"};
}

std::string print(const DiversionHolder& holder) {
  if (!holder.process) return "unknown process";
  return "pid " + std::to_string(holder.process->pid) + ", uid " + std::to_string(holder.process->uid);
}

std::optional<DiversionHolder> diversion_holder() {
  // Nobody accepts: once the queue is full of those who asked before, a blocking connect would wait for ever.
  const Fd asking{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const Name name;
  if (::connect(asking.get(), name.get(), Name::size) != 0)
    return errno == ECONNREFUSED ? std::nullopt : std::optional{DiversionHolder{}};
  ucred process{};
  socklen_t size = sizeof process;
  if (::getsockopt(asking.get(), SOL_SOCKET, SO_PEERCRED, &process, &size) != 0) return DiversionHolder{};
  return DiversionHolder{process};
}

}  // namespace headrace
