// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/exhaustion/crowd.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "bench/lab/socket_address.hpp"

namespace headrace {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int kBacklog = 16'384;

fs::directory_iterator descriptors(pid_t pid) {
  return fs::directory_iterator{"/proc/" + std::to_string(pid) + "/fd"};
}

lab::Socket begin_connecting(const lab::SocketAddress& to) {
  lab::Handle socket{
      lab::checked(::socket(to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket")};
  if (::connect(socket.get(), to.get(), to.size()) != 0 && errno != EINPROGRESS) lab::throw_errno("connect");
  return lab::Socket{std::move(socket)};
}

}  // namespace

void raise_own_descriptor_limit() {
  rlimit limit{};
  lab::checked(::getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
  limit.rlim_cur = limit.rlim_max;
  lab::checked(::setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
}

void limit_descriptors(pid_t pid, rlim_t most) {
  rlimit limit{};
  lab::checked(::prlimit(pid, RLIMIT_NOFILE, nullptr, &limit), "prlimit");
  limit.rlim_cur = std::min(most, limit.rlim_max);
  lab::checked(::prlimit(pid, RLIMIT_NOFILE, &limit, nullptr), "prlimit");
}

std::size_t descriptors_of(pid_t pid) {
  return static_cast<std::size_t>(std::distance(begin(descriptors(pid)), fs::directory_iterator{}));
}

std::size_t pipes_of(pid_t pid) {
  std::error_code gone;
  return static_cast<std::size_t>(
      std::count_if(begin(descriptors(pid)), fs::directory_iterator{}, [&](const fs::directory_entry& entry) {
        return fs::read_symlink(entry.path(), gone).string().starts_with("pipe:");
      }));
}

std::size_t resident_kib(pid_t pid) {
  std::ifstream status{"/proc/" + std::to_string(pid) + "/status"};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::strtoul(line.c_str() + 6, nullptr, 10);
  return 0;
}

std::chrono::milliseconds processor_time_of(pid_t pid) {
  std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
  std::string text{std::istreambuf_iterator<char>{stat}, {}};
  std::istringstream fields{text.substr(text.rfind(')') + 1)};
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;  // utime and stime are the 14th and 15th
  long user = 0, system = 0;
  fields >> user >> system;
  return std::chrono::milliseconds{(user + system) * 1000 / ::sysconf(_SC_CLK_TCK)};
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

lab::Socket listen_for_crowd(const lab::InlineLab& lab, const std::string& place) {
  lab.server.sysctl("net.core.somaxconn", std::to_string(kBacklog));
  lab.server.sysctl("net.ipv4.tcp_max_syn_backlog", std::to_string(kBacklog));
  lab::SocketOptions options;
  options.backlog = kBacklog;
  return lab::Socket::listen(lab.server, place, options);
}

std::vector<lab::Socket> connect_at_once(const lab::InlineLab& lab, const std::string& place,
                                         std::size_t count) {
  std::vector<lab::Socket> clients;
  clients.reserve(count);
  const lab::SocketAddress to{place};
  lab.client.run([&] {
    while (clients.size() < count) clients.push_back(begin_connecting(to));
  });
  return clients;
}

std::vector<lab::Socket> accept_all(const lab::Socket& listener, std::size_t most) {
  std::vector<lab::Socket> servers;
  servers.reserve(most);
  while (servers.size() < most) {
    auto server = listener.try_accept(servers.empty() ? 10s : 1500ms);
    if (!server) break;
    servers.push_back(std::move(*server));
  }
  return servers;
}

std::size_t count_whole(const std::vector<lab::Socket>& sockets) {
  return static_cast<std::size_t>(std::count_if(sockets.begin(), sockets.end(), [](const auto& socket) {
    pollfd watched{socket.descriptor(), POLLOUT | POLLRDHUP, 0};
    return ::poll(&watched, 1, 0) == 1 && watched.revents == POLLOUT;
  }));
}

bool all_speak(const std::vector<lab::Socket>& clients, const std::vector<lab::Socket>& servers) {
  const auto says = [](const lab::Socket& client) { return client.send_all("word") == lab::End::done; };
  const auto hears = [](const lab::Socket& server) { return server.receive_exactly(4).bytes == "word"; };
  return std::all_of(clients.begin(), clients.end(), says) &&
         std::all_of(servers.begin(), servers.end(), hears);
}

std::chrono::milliseconds idle_time_of(const Daemon& daemon, const lab::Socket& silent) {
  const auto before = processor_time_of(daemon.pid());
  static_cast<void>(silent.wait_for_data(1s));
  return processor_time_of(daemon.pid()) - before;
}

}  // namespace headrace
