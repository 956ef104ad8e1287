// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/transfer.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <stdexcept>

#include "bench/lab/inline_lab.hpp"
#include "bench/speed/turns.hpp"
#include "bench/speed/usage.hpp"
#include "bench/workload/serve.hpp"

namespace headrace::lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kGlance = 250ms;      // until whoever waits sees that it shall stop
constexpr auto kPatience = 120s;     // without a single byte
constexpr std::size_t kHeader = 16;  // direction and size
constexpr char kDone = 'd';
// Above what a receive buffer holds: readable is then only a connection whose window has closed, or that has
// ended (tcp_epollin_ready).
constexpr int kNotBeforeWindowCloses = 1024 * 1024;

struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error("told to stop") {}
};

// False when the time is over.
bool wait_in_glances(const Socket& socket, short events, const std::function<bool()>& stop) {
  const Deadline deadline(kPatience);
  while (!deadline.passed()) {
    if (stop()) throw Stopped();
    pollfd watched{socket.descriptor(), events, 0};
    if (poll(&watched, 1, static_cast<int>(std::chrono::milliseconds(kGlance).count())) > 0) return true;
  }
  return false;
}

// What one recv gives of at most `limit` bytes, which nobody looks at.
std::uint64_t take_some(const Socket& socket, std::size_t limit, const std::function<bool()>& stop) {
  if (!wait_in_glances(socket, POLLIN, stop)) throw std::runtime_error("nothing came any more");
  const ssize_t taken = recv(socket.descriptor(), nullptr, limit, MSG_TRUNC | MSG_DONTWAIT);
  if (taken < 0 && errno == EAGAIN) return 0;
  if (taken <= 0) throw std::runtime_error("the connection ended before the transfer did");
  return static_cast<std::uint64_t>(taken);
}

void give_all(const Socket& socket, std::uint64_t size, std::size_t lump, const std::function<bool()>& stop) {
  const std::string block = pattern(lump);
  for (std::uint64_t left = size; left > 0;) {
    if (!wait_in_glances(socket, POLLOUT, stop)) throw std::runtime_error("nothing goes any more");
    left -= socket.send_some(std::string_view(block).substr(0, std::min<std::uint64_t>(left, lump)));
  }
}

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

TransferServer::TransferServer(const Namespace& where, int port, const ServerManners& manners)
    : manners_(manners), listener_(Socket::listen(where, endpoint("0.0.0.0", port), manners.socket)) {
  thread_ = std::thread([this] {
    leave_signals_to_the_main_thread();
    serve();
  });
}

TransferServer::~TransferServer() {
  stopping_ = true;
  thread_.join();
}

void TransferServer::serve() {
  while (!stopping_) {
    pollfd waiting{listener_.descriptor(), POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(std::chrono::milliseconds(kGlance).count())) <= 0) continue;
    const Socket connection{
        Handle(accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK))};
    try {
      if (connection) serve_one(connection);
    } catch (const std::exception&) {  // the client hears of it: its connection ends
    }
  }
}

void TransferServer::serve_one(const Socket& connection) {
  const std::string header = receive_or_throw(connection, kHeader, 10s);
  const std::uint64_t size = as_number(header.substr(8));
  if (as_number(header.substr(0, 8)) == static_cast<std::uint64_t>(Direction::upload)) {
    take(connection, size);
  } else {
    give(connection, size);
  }
  const auto gone = [this] { return stopping_.load(); };
  wait_in_glances(connection, POLLIN, gone);  // the client closes first
}

void TransferServer::take(const Socket& connection, std::uint64_t size) {
  const auto stop = [this] { return stopping_.load(); };
  const auto window = static_cast<std::uint64_t>(connection.option(SOL_SOCKET, SO_RCVBUF)) / 2;
  bool late = manners_.reads_late;
  if (late) connection.set_option(SOL_SOCKET, SO_RCVLOWAT, kNotBeforeWindowCloses);
  std::vector<Taken> taken;
  for (std::uint64_t done = 0; done < size;) {
    if (late && size - done <= window) {  // the rest cannot close the window
      connection.set_option(SOL_SOCKET, SO_RCVLOWAT, 1);
      late = false;
    }
    done += take_some(connection, manners_.lump, stop);
    taken.push_back({Clock::now(), done});
  }
  {
    const std::lock_guard lock(mutex_);
    taken_ = std::move(taken);
  }
  send_or_throw(connection, std::string(1, kDone), 10s);
}

void TransferServer::give(const Socket& connection, std::uint64_t size) {
  give_all(connection, size, manners_.lump, [this] { return stopping_.load(); });
}

Timeline TransferServer::taken(Clock::time_point start) const {
  const std::lock_guard lock(mutex_);
  Timeline timeline;
  for (const Taken& one : taken_) timeline.push_back({seconds(one.at - start), one.bytes});
  return timeline;
}

Timeline transfer(const Namespace& client, const std::string& target, const TransferServer& server,
                  Direction direction, std::uint64_t size) {
  const auto stop = [] { return takes_no_more_turns(); };
  const Socket socket = Socket::connect(client, target);
  const auto start = Clock::now();
  send_or_throw(socket, as_bytes(static_cast<std::uint64_t>(direction)) + as_bytes(size), 10s);
  if (direction == Direction::upload) {
    give_all(socket, size, 256 * 1024, stop);
    while (take_some(socket, 1, stop) == 0) {  // the server has it all
    }
    return server.taken(start);
  }
  Timeline timeline;
  for (std::uint64_t done = 0; done < size;) {
    done += take_some(socket, 1024 * 1024, stop);
    timeline.push_back({seconds(Clock::now() - start), done});
  }
  return timeline;
}

}  // namespace headrace::lab
