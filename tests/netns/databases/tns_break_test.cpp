// SPDX-License-Identifier: GPL-3.0-or-later
// Ctrl-C in SQL*Plus: a break that must reach a server in the middle of a long answer.
#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <future>

#include "tests/netns/databases/tns_pair.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t kWhole = 100'000'000, kPacket = 64 * 1024;
const std::string kCancelled = "ORA-01013: user requested cancel of current operation";

// SIGURG of one socket for the thread that made it, as a descriptor. Blocked, so that it waits to be read.
class UrgentSignal {
 public:
  explicit UrgentSignal(const lab::Socket& socket) {
    sigset_t urgent;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    pthread_sigmask(SIG_BLOCK, &urgent, nullptr);
    signal_ = lab::Handle{lab::checked(::signalfd(-1, &urgent, SFD_CLOEXEC), "signalfd")};
    const f_owner_ex me{F_OWNER_TID, ::gettid()};
    lab::checked(::fcntl(socket.descriptor(), F_SETOWN_EX, &me), "F_SETOWN_EX");
  }
  int descriptor() const { return signal_.get(); }

 private:
  lab::Handle signal_;
};

struct Streamed {
  std::size_t bytes = 0;
  Clock::time_point stopped_at;
  bool by_signal = false;
};

// Sends the packet again and again until SIGURG comes or the whole answer is out, and ends with a whole
// packet. `stuck` is told when nothing moved for a while: nobody reads.
Streamed stream(const tns::Channel& channel, std::promise<void>& stuck) {
  const UrgentSignal signal{channel.socket()};
  const std::string packet = channel.framed(tns::Type::data, tns::data_of(kPacket));
  Streamed streamed;
  bool told = false;
  while (streamed.bytes < kWhole) {
    std::array<pollfd, 2> watched{
        {{channel.socket().descriptor(), POLLOUT, 0}, {signal.descriptor(), POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), told ? 10'000 : 300) == 0) {
      if (told) break;
      stuck.set_value();
      told = true;
      continue;
    }
    streamed.by_signal = watched[1].revents != 0;
    if (streamed.by_signal) break;
    const std::string_view rest = std::string_view{packet}.substr(streamed.bytes % kPacket);
    streamed.bytes += channel.socket().send_some(rest);
  }
  streamed.stopped_at = Clock::now();
  if (const std::size_t cut = streamed.bytes % kPacket; cut != 0)
    channel.socket().send_all(std::string_view{packet}.substr(cut));
  return streamed;
}

// The server of a statement that is cancelled.
Streamed serve_until_break(const tns::Channel& channel, std::promise<void>& stuck) {
  channel.expect(tns::Type::data);
  const Streamed streamed = stream(channel, stuck);
  if (!streamed.by_signal) return streamed;
  tns::take_urgent(channel.socket());
  channel.expect_marker(tns::Marker::interrupt);
  channel.send_marker(tns::Marker::reset);
  channel.expect_marker(tns::Marker::reset);
  channel.send(tns::Type::data, kCancelled);
  return streamed;
}

Clock::time_point send_break(const tns::Channel& channel) {
  const auto when = Clock::now();
  channel.socket().send_urgent(tns::kUrgent);
  channel.send_marker(tns::Marker::interrupt);
  return when;
}

// Packets into a server that reads none, until its window is shut and so many bytes wait outside of it. Not
// more than an urgent pointer spans: beyond 64 KiB a direct break says nothing either while the window is
// shut.
int upload_unread(const tns::Channel& from, const tns::Channel& to, std::size_t outside) {
  const std::string body = tns::data_of(2048);
  int packets = 0;
  std::size_t inside = 0;
  const auto send = [&] {
    from.send(tns::Type::data, body);
    ++packets;
  };
  do {
    inside = to.socket().unread();
    send();
  } while (eventually([&] { return to.socket().unread() > inside; }, 200ms));
  while (static_cast<std::size_t>(packets) * 2048 < inside + outside) send();
  return packets;
}

// What follows a break: the rest of the answer is thrown away up to the server's marker.
std::string end_of_statement(const tns::Channel& channel) {
  while (channel.receive().type == tns::Type::data) {
  }
  channel.send_marker(tns::Marker::reset);
  return channel.expect(tns::Type::data);
}

void check_break(const TwoWays& ways, const std::string& address, bool in_line, bool client_reads) {
  CAPTURE(address, in_line, client_reads);
  const tns::Pair pair = tns::make_pair(ways, lab::endpoint(address, tns::kPort), in_line);
  const tns::Channel& client = pair.client.channel;
  std::promise<void> stuck;
  auto served = std::async(std::launch::async, [&] { return serve_until_break(pair.server.channel, stuck); });
  client.send(tns::Type::data, tns::data_of(tns::kRequest));
  if (client_reads)
    for (std::size_t read = 0; read < kWhole / 10; read += kPacket) client.expect(tns::Type::data);
  else
    REQUIRE(stuck.get_future().wait_for(20s) == std::future_status::ready);
  const auto sent = send_break(client);
  CHECK(end_of_statement(client) == kCancelled);
  const Streamed streamed = served.get();
  CHECK(streamed.by_signal);
  CHECK(streamed.bytes < kWhole);
  CHECK(streamed.stopped_at - sent < 2s);
  CHECK(tns::exchange(pair, tns::kRequest, tns::kAnswer));
}

}  // namespace

TEST_CASE("tns: a break stops a server in the middle of 100 MB, by SIGURG, and the session goes on") {
  const TwoWays ways{"1521"};
  for (const auto& [through, direct] : TwoWays::pairs())
    for (const std::string& address : {through, direct})
      for (const bool in_line : {false, true}) check_break(ways, address, in_line, true);
  CHECK(ways.accepted() == 4);
}

TEST_CASE("tns: a break stops a server whose answer nobody reads") {
  const TwoWays ways{"1521"};
  for (const auto& [through, direct] : TwoWays::pairs())
    for (const std::string& address : {through, direct}) check_break(ways, address, false, false);
  CHECK(ways.accepted() == 2);
}

TEST_CASE("tns: a break stops a server that does not read an upload") {
  // A small buffer, so that headrace cannot pass on much.
  const TwoWays ways{"1521", "server_leg = { profile = \"lan\", send_buffer = \"8KiB\" }\n"};
  lab::SocketOptions options;
  options.receive_buffer = 32 * 1024;
  for (const auto& [through, direct] : TwoWays::pairs())
    for (const std::string& address : {through, direct}) {
      CAPTURE(address);
      const std::string place = lab::endpoint(address, tns::kPort);
      const auto listener = lab::Socket::listen(ways.server(), place, options);
      const tns::Pair pair = tns::make_pair(ways, place, listener);
      const tns::Channel &client = pair.client.channel, &server = pair.server.channel;
      client.socket().set_option(SOL_SOCKET, SO_SNDBUF, 200'000);
      const UrgentSignal signal{server.socket()};
      const int packets = upload_unread(client, server, 40'000);
      send_break(client);
      CHECK(lab::wait_for(signal.descriptor(), POLLIN, lab::Deadline{5s}));
      for (int n = 0; n < packets; ++n) REQUIRE(server.expect(tns::Type::data) == tns::data_of(2048));
      server.expect_marker(tns::Marker::interrupt);
    }
}
