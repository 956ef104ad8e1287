// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

TEST_CASE("refused: a closed port looks refused, with a reset and not a byte") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  CHECK(looks_refused(lab, lab::endpoint(lab::kServer4, 5001), 5s));
  CHECK(looks_refused(lab, lab::endpoint(lab::kServer6, 5001), 5s));
  CHECK(daemon.logged("closed=server_refused", 2));
}

TEST_CASE("refused: what the client had sent already changes nothing") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  const auto attempt = lab::Socket::try_connect(lab.client, lab::endpoint(lab::kServer4, 5001));
  if (attempt.end == lab::End::done) {
    static_cast<void>(attempt.socket.send_all("hello"));
    const auto heard = attempt.socket.receive_to_end();
    CHECK(heard.bytes.empty());
    CHECK(heard.end == lab::End::reset);
  }
  CHECK(daemon.logged("closed=server_refused"));
}

TEST_CASE("unreachable: a network without a route looks refused at once") {
  const lab::InlineLab lab;
  lab.middle.ip("route add unreachable 198.18.9.0/24\nroute add unreachable 2001:db8:9::/64");
  const Daemon daemon{lab};
  CHECK(looks_refused(lab, "198.18.9.1:5001", 5s));
  CHECK(looks_refused(lab, "[2001:db8:9::1]:5001", 5s));
  CHECK(daemon.logged("closed=server_unreachable", 2));
}

TEST_CASE("unreachable: a router's ICMP error ends the attempt at once") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  lab.server.command({"nft", "-f", "-"},
                     "table inet away { chain input { type filter hook input priority 0;\n"
                     "tcp dport 5001 reject with icmpx type no-route\n}\n}\n");
  CHECK(looks_refused(lab, lab::endpoint(lab::kServer4, 5001), 5s));
  CHECK(looks_refused(lab, lab::endpoint(lab::kServer6, 5001), 5s));
  CHECK(daemon.logged("closed=server_unreachable", 2));
}

TEST_CASE("timeouts.connect: a server that never answers looks refused after it") {
  const lab::InlineLab lab;
  DaemonSettings settings;
  settings.more = "[timeouts]\nconnect = \"1s\"\n";
  const Daemon daemon{lab, settings};
  silence(lab.server);
  const auto start = std::chrono::steady_clock::now();
  CHECK(looks_refused(lab, lab::endpoint(lab::kServer4, 5001), 8s));
  CHECK(since(start) >= 900ms);
  CHECK(daemon.logged("closed=connect_timeout"));
}

TEST_CASE("client gone: a client that resets before the server has answered ends the attempt") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  silence(lab.server);
  auto client = lab::Socket::connect(lab.client, lab::endpoint(lab::kServer4, 5001));
  CHECK(eventually([&] { return daemon.status()["sessions"] == 1; }));
  client.reset();
  CHECK(daemon.logged("closed=client_gone"));
  CHECK(daemon.status()["sessions"] == 0);
}
