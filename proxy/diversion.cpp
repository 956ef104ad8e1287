// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/diversion.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace headrace {
namespace {

// Without a file: the kernel keeps such names per network namespace, as it keeps the rules.
constexpr std::string_view kClaim{"\0headrace-diversion", 19};

std::string holder_of_claim(const sockaddr* address, socklen_t length) {
  const Fd asking{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
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

DiversionControl::~DiversionControl() {
  try {
    remove();
  } catch (const std::exception&) {
    // Nobody is left to tell; without a listener the rules let new flows pass.
  }
}

void DiversionControl::replace(std::shared_ptr<const Configuration> configuration, ListenerClasses classes,
                               ClassPorts ports) {
  if (!claim_) claim_.emplace();
  configuration_ = std::move(configuration);
  classes_ = std::move(classes);
  ports_ = std::move(ports);
  put();
}

void DiversionControl::set(Reason reason, bool holds) {
  const unsigned before = reasons_;
  reasons_ = holds ? reasons_ | bit(reason) : reasons_ & ~bit(reason);
  if (present_ && (before == 0) != (reasons_ == 0)) put();
}

void DiversionControl::put() {
  const Settings& settings = configuration_->settings;
  if (settings.intercept.mode == InterceptMode::off) return;
  apply_diversion({settings, *configuration_->policies, classes_, ports_,
                   reasons_ == 0 ? Diversion::on : Diversion::sessions, ipv6_});
  present_ = true;
}

void DiversionControl::remove() {
  if (std::exchange(present_, false)) remove_diversion(configuration_->settings.intercept.firewall);
}

bool BypassFile::is_on() const {
  std::error_code ignored;
  return std::filesystem::exists(path_, ignored);
}

void BypassFile::set(bool on) const {
  std::error_code error;
  if (!on) {
    std::filesystem::remove(path_, error);
  } else {
    std::filesystem::create_directories(std::filesystem::path{path_}.parent_path(), error);
    std::ofstream file{path_};
    file << "New flows go straight to the server. `headrace bypass off` removes this file.\n";
    if (!file.flush()) throw std::runtime_error{"write " + path_ + ": failed"};
  }
  if (error) throw std::runtime_error{"change " + path_ + ": " + error.message()};
}

}  // namespace headrace
