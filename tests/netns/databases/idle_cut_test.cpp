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
