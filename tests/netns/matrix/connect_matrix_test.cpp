// SPDX-License-Identifier: GPL-3.0-or-later
// What a client sees of a server that cannot be reached, and a server of a client that gave up. headrace has
// accepted by then (accept = "early"), which is what all differences below come from.
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr int kThrough = 5001, kDirect = 5002;
const char* const kNowhere = "198.18.2.77";

// How connect(2) fails, or what is read from what it gave.
std::string attempt(const lab::InlineLab& lab, const std::string& place, std::chrono::nanoseconds patience) {
  lab::SocketOptions options;
  options.timeout = patience;
  const auto attempt = lab::Socket::try_connect(lab.client, place, options);
  if (attempt.end != lab::End::done) return lab::to_text(attempt.end);
  const auto heard = attempt.socket.receive_to_end(patience);
  return heard.bytes + "connected, then " + lab::to_text(heard.end);
}

// A reset that comes before connect(2) has returned is told by it.
bool is_reset_at_once(const std::string& seen) { return seen == "connected, then reset" || seen == "reset"; }

// What the server hears of a client that gives up while no answer reaches it.
std::string heard_of_who_gave_up(const lab::InlineLab& lab, int port, void (*give_up)(lab::Socket&)) {
  const std::string place = lab::endpoint(lab::kServer4, port);
  const auto listener = lab::Socket::listen(lab.server, place);
  silence(lab.server);
  lab::SocketOptions options;
  options.timeout = 300ms;
  auto attempt = lab::Socket::try_connect(lab.client, place, options);
  if (attempt.end == lab::End::done) give_up(attempt.socket);
  lab.server.command({"nft", "delete", "table", "inet", "silent"});
  const auto server = listener.try_accept(4s);  // SYNs are sent again after 1 s and 2 s more
  if (!server) return "nothing";
  return std::string{lab::to_text(server->receive_to_end().end)};
}

}  // namespace

TEST_CASE("matrix: a server that refuses, early acceptance shows it as a reset at once") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_policies(policy(kThrough, "\"lan\"", "\"lan\""))};
  CHECK(attempt(lab, lab::endpoint(lab::kServer4, kDirect), 5s) == "refused");
  CHECK(is_reset_at_once(attempt(lab, lab::endpoint(lab::kServer4, kThrough), 5s)));
}

TEST_CASE("matrix: an unreachable server, early acceptance shows it as a reset at once") {
  const lab::InlineLab lab;
  lab.middle.ip("route add unreachable " + std::string{kNowhere});
  const Daemon daemon{lab, with_policies(policy(kThrough, "\"lan\"", "\"lan\""))};
  CHECK(attempt(lab, lab::endpoint(kNowhere, kDirect), 5s) == "unreachable");
  CHECK(is_reset_at_once(attempt(lab, lab::endpoint(kNowhere, kThrough), 5s)));
}

TEST_CASE("matrix: a silent server, early acceptance shows it as silence, and in the end a reset") {
  const lab::InlineLab lab;
  const Daemon daemon{
      lab, with_policies(policy(kThrough, "\"lan\"", "\"lan\""), "[timeouts]\nconnect = \"2s\"\n")};
  silence(lab.server);
  CHECK(attempt(lab, lab::endpoint(lab::kServer4, kDirect), 1s) == "timed out");
  CHECK(attempt(lab, lab::endpoint(lab::kServer4, kThrough), 1s) == "connected, then timed out");
  CHECK(attempt(lab, lab::endpoint(lab::kServer4, kThrough), 5s) == "connected, then reset");
}

TEST_CASE("matrix: of a client that gives up by a reset the server hears nothing") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_policies(policy(kThrough, "\"lan\"", "\"lan\""))};
  const auto reset = [](lab::Socket& client) { client.reset(); };
  CHECK(heard_of_who_gave_up(lab, kDirect, reset) == "nothing");
  CHECK(heard_of_who_gave_up(lab, kThrough, reset) == "nothing");
  CHECK(daemon.logged("closed=client_gone"));
}

// It may have finished a request that it wants answered: nobody can tell from outside.
TEST_CASE("matrix: a client closes while connecting, the server hears a connection that ends") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_policies(policy(kThrough, "\"lan\"", "\"lan\""))};
  const auto close = [](lab::Socket& client) { client.close(); };
  CHECK(heard_of_who_gave_up(lab, kDirect, close) == "nothing");
  CHECK(heard_of_who_gave_up(lab, kThrough, close) == "end of stream");
}
