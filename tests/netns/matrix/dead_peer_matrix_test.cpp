// SPDX-License-Identifier: GPL-3.0-or-later
// An end that is no more: nothing of it arrives. Direct, the other's own timers find it; through headrace
// those of the leg do, since headrace answers for the dead. No packet makes a peer say ETIMEDOUT: it sees a
// reset.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr int kThrough = 5001, kDirect = 5002;
const std::string kProbes = "keepalive_idle = \"1s\", keepalive_interval = \"1s\", keepalive_count = 2";
const std::string kPatience = "user_timeout = \"1s\"";

void set_timers(const lab::Socket& socket, bool by_unsent_data) {
  if (by_unsent_data) return socket.set_option(IPPROTO_TCP, TCP_USER_TIMEOUT, 1000);
  socket.set_option(IPPROTO_TCP, TCP_KEEPIDLE, 1);
  socket.set_option(IPPROTO_TCP, TCP_KEEPINTVL, 1);
  socket.set_option(IPPROTO_TCP, TCP_KEEPCNT, 2);
  socket.set_option(SOL_SOCKET, SO_KEEPALIVE, 1);
}

// The dead end's last words are still read.
std::string seen(const lab::InlineLab& lab, int port, bool client_dies, bool by_unsent_data) {
  const Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, port));
  const lab::Socket& dead = client_dies ? ends.client : ends.server;
  const lab::Socket& other = client_dies ? ends.server : ends.client;
  if (port == kDirect) set_timers(other, by_unsent_data);
  dead.send_all("last words");
  REQUIRE(eventually([&] { return other.unread() == 10; }));
  const lab::Namespace& where = client_dies ? lab.client : lab.server;
  silence(where);
  if (by_unsent_data) other.send_all(lab::pattern(10'000));
  REQUIRE(eventually([&] { return other.tcp().state == TCP_CLOSE; }, 20s));
  const auto heard = other.receive_to_end();
  where.command({"nft", "delete", "table", "inet", "silent"});
  return heard.bytes + ", " + lab::to_text(heard.end);
}

void compare(bool by_unsent_data, const std::string& keys) {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_policies(policy(kThrough, leg(keys), leg(keys)))};
  for (const bool client_dies : {true, false}) {
    INFO("dead: " << (client_dies ? "the client" : "the server"));
    CHECK(seen(lab, kDirect, client_dies, by_unsent_data) == "last words, timed out");
    CHECK(seen(lab, kThrough, client_dies, by_unsent_data) == "last words, reset");
    CHECK(daemon.logged(client_dies ? "closed=client_timed_out" : "closed=server_timed_out"));
  }
}

}  // namespace

TEST_CASE("matrix: an end dies under unsent data, its leg's user_timeout tells the other by a reset") {
  compare(true, kPatience);
}

TEST_CASE("matrix: an idle end dies, its leg's keepalive tells the other by a reset") {
  compare(false, kProbes);
}

// An hour in small: the kernel's own limits for half-closed connections are set to a second.
TEST_CASE("matrix: a half-closed connection outlives the kernel's timers and its own probes, either way") {
  const lab::InlineLab lab;
  for (const lab::Namespace* host : {&lab.client, &lab.middle, &lab.server})
    host->sysctl("net.ipv4.tcp_fin_timeout", "1");
  const Daemon daemon{lab, with_policies(policy(kThrough, leg(kProbes), leg(kProbes)))};
  for (const int port : {kDirect, kThrough}) {
    for (const bool client_finishes : {true, false}) {
      INFO("port " << port << (client_finishes ? ", the client" : ", the server") << " finishes");
      const lab::Capture at_wan{lab.middle, "wan0"};
      const Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, port));
      const lab::Socket& first = client_finishes ? ends.client : ends.server;
      const lab::Socket& last = client_finishes ? ends.server : ends.client;
      set_timers(ends.client, false);  // so that there is something to count on a direct connection as well
      first.shutdown_write();
      REQUIRE(last.receive_to_end().end == lab::End::end_of_stream);
      const auto probe = [&](const lab::Packet& p) {
        return p.from_port == port && p.outgoing && !p.syn && !p.fin;
      };
      CHECK(at_wan.wait_for_count(5, probe, 20s));
      REQUIRE(last.send_all("late") == lab::End::done);
      last.shutdown_write();
      const auto heard = first.receive_to_end();
      CHECK(heard.bytes == "late");
      CHECK(heard.end == lab::End::end_of_stream);
    }
  }
}
