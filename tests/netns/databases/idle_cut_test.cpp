// SPDX-License-Identifier: GPL-3.0-or-later
// A firewall between headrace and the server that forgets a connection: nothing of it passes any more, and
// nobody is told.
#include "tests/netns/databases/postgres.hpp"
#include "tests/netns/databases/postgres_wire.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

const std::string kPlace = lab::endpoint(lab::kServer4, Postgres::kPort);
const std::string kWatchful =
    "server_leg = { profile = \"lan\", keepalive_idle = \"1s\", keepalive_interval = \"1s\", "
    "keepalive_count = 2, user_timeout = \"3s\" }\n";

// A firewall before the server that lets through what it knows, and remembers as long as it is told to.
const std::string kForgetful =
    "table inet firewall { chain in { type filter hook input priority 0;\n"
    "tcp dport 5432 ct state established accept\n"
    "tcp dport 5432 tcp flags & (syn | ack) != syn drop\n}\n}\n";

// Of what comes from the client's port nothing is heard any more, of what is sent there nothing arrives.
void forget(const TwoWays& ways, const PostgresWire& client) {
  const std::string port = std::to_string(client.socket().local_port());
  ways.server().command({"nft", "-f", "-"},
                        "table inet firewall {\n"
                        "chain in { type filter hook input priority -400; tcp sport " +
                            port +
                            " drop; }\n"
                            "chain out { type filter hook output priority 400; tcp dport " +
                            port + " drop; }\n}\n");
}

}  // namespace

TEST_CASE("idle cut: the client of a forgotten session is reset, and its next connection works") {
  const TwoWays ways{"5432", kWatchful};
  const Postgres server{ways.server()};
  const PostgresWire client{ways.client(), kPlace};
  forget(ways, client);
  CHECK(client.socket().receive_to_end(20s).end == lab::End::reset);
  CHECK(ways.daemon().logged("closed=server_timed_out"));
  CHECK(PostgresWire{ways.client(), kPlace}.ask("select 6 * 7") == "42");
}

TEST_CASE("idle cut: a question into a forgotten session ends in a reset and not in a wait") {
  const TwoWays ways{"5432", kWatchful};
  const Postgres server{ways.server()};
  const PostgresWire client{ways.client(), kPlace};
  forget(ways, client);
  client.send_query("select 6 * 7");  // unacknowledged data: keepalive is silent, user_timeout counts
  CHECK(client.socket().receive_to_end(20s).end == lab::End::reset);
  CHECK(ways.daemon().logged("closed=server_timed_out"));
}

TEST_CASE("idle cut: headrace's probes keep a firewall from forgetting a quiet session") {
  const TwoWays ways{"5432", kWatchful};
  const Postgres server{ways.server()};
  ways.server().command({"nft", "-f", "-"}, kForgetful);
  ways.server().sysctl("net.netfilter.nf_conntrack_tcp_timeout_established", "3");
  ways.server().sysctl("net.netfilter.nf_conntrack_tcp_loose", "0");
  const PostgresWire client{ways.client(), kPlace};
  const PostgresWire direct{ways.client(), lab::endpoint(TwoWays::kDirect4, Postgres::kPort)};
  const lab::Capture at_server{ways.server(), "eth0"};
  const auto port = client.socket().local_port();
  const auto probe = [port](const lab::Packet& p) { return !p.outgoing && p.from_port == port; };
  REQUIRE(at_server.wait_for_count(5, probe, 20s));  // a second apart
  CHECK(client.ask("select 6 * 7") == "42");
  direct.send_query("select 6 * 7");
  CHECK_FALSE(direct.next(1s));  // this one nobody kept alive
}
