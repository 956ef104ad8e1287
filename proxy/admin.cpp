// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/admin.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "proxy/admin_request.hpp"

namespace headrace {
namespace {

constexpr int kMostConnections = 16;
constexpr timeval kPatience{30, 0};  // of the command line; a reload may load many policies

using nlohmann::json;

[[noreturn]] void fail(const std::string& attempt) {
  throw std::runtime_error{attempt + ": " + std::system_category().message(errno)};
}

Fd local_socket(int flags) {
  Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0)};
  if (!socket) fail("socket");
  return socket;
}

sockaddr_un local_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw std::runtime_error{"admin.socket " + path + ": longer than 107 bytes"};
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

bool connect_to(const Fd& socket, const std::string& path) {
  const sockaddr_un address = local_address(path);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

ucred peer_credentials(const Fd& socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length);
  return peer;
}

std::string peer_of(const Fd& socket) {
  const ucred peer = peer_credentials(socket);
  return "pid=" + std::to_string(peer.pid) + " uid=" + std::to_string(peer.uid);
}

}  // namespace

// One request: reads a line, answers it, and is done.
class AdminServer::Connection final : public Watcher {
 public:
  Connection(AdminServer& server, Fd socket) : server_{server}, socket_{std::move(socket)} {
    done_ = !watch_.start(server.loop_, socket_, *this, 0);
  }

  bool is_done() const { return done_; }
  void abandon() { done_ = true; }

  void on_ready(unsigned, Events) noexcept override {
    std::array<char, 1024> buffer{};
    while (!done_) {
      const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (count < 0 && errno == EAGAIN) return;
      const auto line = request_.add({buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))});
      if (count <= 0 || request_.is_too_long()) {
        done_ = true;
        return;
      }
      if (line) answer(*line);
    }
  }

 private:
  void answer(const std::string& line) noexcept {
    done_ = true;
    const std::string text = outcome(line) + "\n";
    // An answer is smaller than the socket's buffer; a reader that went away is his own loss.
    static_cast<void>(::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  }

  std::string outcome(const std::string& line) noexcept {
    try {
      const auto [verb, argument] = parse_admin_request(line);
      server_.log_.info("admin " + peer_of(socket_) + " verb=" + json(verb).dump() +
                        (argument.empty() ? "" : " argument=" + json(argument).dump()));
      return server_.handler_(verb, argument);
    } catch (const std::exception& error) {
      return render_admin_failure(error.what());
    }
  }

  AdminServer& server_;
  Fd socket_;
  Watch watch_;
  AdminRequestLine request_;
  bool done_ = false;
};

AdminServer::AdminServer(Loop& loop, Log& log, const std::string& path, AdminHandler handler)
    : loop_{loop},
      log_{log},
      path_{path},
      handler_{std::move(handler)},
      listener_{local_socket(SOCK_NONBLOCK)},
      spare_{::open("/dev/null", O_RDONLY | O_CLOEXEC)} {
  if (admin_answers(path))
    throw std::runtime_error{"admin.socket " + path + ": another headrace answers there"};
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path{path}.parent_path(), error);
  if (std::filesystem::is_socket(path, error)) std::filesystem::remove(path, error);  // never another file
  const sockaddr_un address = local_address(path);
  const mode_t before = ::umask(0117);
  const int bound = ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::umask(before);
  if (bound != 0) fail("admin.socket " + path + ": bind");
  if (::listen(listener_.get(), kMostConnections) != 0) fail("admin.socket " + path + ": listen");
  if (!watch_.start(loop_, listener_, *this, 0, Watch::Trigger::level))
    fail("admin.socket " + path + ": epoll_ctl");
}

AdminServer::~AdminServer() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

void AdminServer::on_ready(unsigned, Events) noexcept { accept_all(); }

void AdminServer::accept_all() {
  for (;;) {
    Fd socket{::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (!socket && (errno == EMFILE || errno == ENFILE)) {
      // Let go with the spare descriptor, or this would be asked again at once.
      spare_.close();
      Fd{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)}.close();
      spare_ = Fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
      return;
    }
    if (!socket) return;
    // Who has said nothing for longest makes room: silence must not lock anybody out.
    const auto is_live = [](const std::unique_ptr<Connection>& connection) { return !connection->is_done(); };
    if (std::count_if(connections_.begin(), connections_.end(), is_live) >= kMostConnections)
      (*std::find_if(connections_.begin(), connections_.end(), is_live))->abandon();
    connections_.push_back(std::make_unique<Connection>(*this, std::move(socket)));
  }
}

void AdminServer::reap() {
  connections_.remove_if([](const std::unique_ptr<Connection>& connection) { return connection->is_done(); });
}

// Somebody who may not ask, or a daemon too busy to answer, does not mean that there is none.
bool admin_answers(const std::string& path) {
  const Fd socket = local_socket(0);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  if (connect_to(socket, path)) return true;
  if (errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR || errno == ENOTSOCK) return false;
  fail("connect " + path);
}

int admin_pid(const std::string& path) {
  const Fd socket = local_socket(0);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  if (!connect_to(socket, path)) fail("connect " + path);
  return peer_credentials(socket).pid;  // of who listens
}

std::string admin_request(const std::string& path, const std::string& verb, const std::string& argument) {
  const Fd socket = local_socket(0);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  if (!connect_to(socket, path)) fail("connect " + path);
  const std::string request = render_admin_request({verb, argument}) + "\n";
  if (::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) fail("ask " + path);
  std::string answer;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 1; count > 0;) {
    count = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (count > 0) answer.append(buffer.data(), static_cast<std::size_t>(count));
  }
  const json parsed = json::parse(answer, nullptr, false);
  if (parsed.is_discarded()) throw std::runtime_error{"ask " + path + ": no answer"};
  if (!parsed.value("ok", false)) throw std::runtime_error{parsed.value("error", "the daemon refused")};
  return answer;
}

}  // namespace headrace
