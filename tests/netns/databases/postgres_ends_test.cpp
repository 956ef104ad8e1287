// SPDX-License-Identifier: GPL-3.0-or-later
// Whoever ends something, a statement, the client or the server, the others learn of it as they do direct.
#include <csignal>

#include "tests/netns/databases/postgres.hpp"
#include "tests/netns/databases/postgres_wire.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

namespace {

const std::string kForever = "select pg_sleep(600)";

lab::Process run_psql(const TwoWays& ways, const std::string& address, const std::string& command,
                      const std::string& more = "user=postgres") {
  return lab::Process{ways.client(), psql(address, command, more)};
}

}  // namespace

TEST_CASE("postgres: Ctrl-C in psql ends a long statement with the server's own error") {
  const TwoWays ways{"5432"};
  const Postgres server{ways.server()};
  std::vector<Said> said;
  for (const std::string address : {lab::kServer4, TwoWays::kDirect4}) {
    auto client = run_psql(ways, address, kForever);
    REQUIRE(eventually([&] { return server.active() == 1; }));
    client.signal(SIGINT);
    said.push_back(run_to_end(client));
    CHECK(server.active() == 0);
  }
  CHECK_THAT(said[0].text, Contains("ERROR:  canceling statement due to user request"));
  CHECK(said[0] == said[1]);
  CHECK(ways.accepted() == 2);  // the session and the request
}

TEST_CASE("postgres: a cancel request ends one statement, and the session goes on") {
  const TwoWays ways{"5432"};
  const Postgres server{ways.server()};
  for (const auto& [through, direct] : TwoWays::pairs()) {
    std::vector<std::string> errors;
    for (const std::string& address : {through, direct}) {
      CAPTURE(address);
      const std::string place = lab::endpoint(address, Postgres::kPort);
      const PostgresWire client{ways.client(), place};
      client.send_query(kForever);
      REQUIRE(eventually([&] { return server.active() == 1; }));
      CHECK(cancel(ways.client(), place, client.key()) == lab::End::end_of_stream);
      errors.push_back(client.await('E').body);
      client.await('Z');
      CHECK(client.ask("select 6 * 7") == "42");
    }
    CHECK_THAT(errors[0], Contains("57014"));
    CHECK(errors[0] == errors[1]);
  }
}

TEST_CASE("postgres: a server that restarts says so before it closes, and takes clients again") {
  const TwoWays ways{"5432"};
  Postgres server{ways.server()};
  const std::string through = lab::endpoint(lab::kServer4, Postgres::kPort);
  {
    const PostgresWire quiet{ways.client(), through};
    const PostgresWire busy{ways.client(), through};
    const PostgresWire direct{ways.client(), lab::endpoint(TwoWays::kDirect4, Postgres::kPort)};
    busy.send_query(kForever);
    REQUIRE(eventually([&] { return server.active() == 1; }));
    server.stop();
    const auto expected = direct.socket().receive_to_end();
    CHECK_THAT(expected.bytes, Contains("FATAL") && Contains("57P01"));
    for (const PostgresWire* client : {&quiet, &busy}) {
      const auto heard = client->socket().receive_to_end();
      CHECK_THAT(heard.bytes, EndsWith(expected.bytes));
      CHECK(heard.end == expected.end);
    }
  }
  server.start();
  CHECK(PostgresWire{ways.client(), through}.ask("select 6 * 7") == "42");
}

TEST_CASE("postgres: a notification reaches a client that says nothing") {
  const TwoWays ways{"5432"};
  const Postgres server{ways.server()};
  for (const auto& [through, direct] : TwoWays::pairs()) {
    const PostgresWire client{ways.client(), lab::endpoint(through, Postgres::kPort)};
    client.send_query("listen news");
    client.await('Z');
    for (const std::string word : {"one", "two"}) {
      server.ask("notify news, '" + word + "'");
      CHECK_THAT(client.await('A').body, Contains("news") && Contains(word));
    }
  }
}

TEST_CASE("postgres: a client that goes away ends its statement at the server, waiting or streaming") {
  const TwoWays ways{"5432"};
  const Postgres server{ways.server()};
  const std::string stream = "copy (select repeat('x', 1000), generate_series(1, 100000000)) to stdout";
  for (const std::string address : {lab::kServer4, TwoWays::kDirect4}) {
    CAPTURE(address);
    auto waiting =
        run_psql(ways, address, kForever, "user=postgres options='-c client_connection_check_interval=100'");
    REQUIRE(eventually([&] { return server.active() == 1; }));
    waiting.kill();
    CHECK(eventually([&] { return server.active() == 0; }));
    {
      const PostgresWire streaming{ways.client(), lab::endpoint(address, Postgres::kPort)};
      streaming.send_query(stream);
      REQUIRE(streaming.socket().receive_exactly(5'000'000).end == lab::End::done);
    }
    CHECK(eventually([&] { return server.active() == 0; }));
  }
  CHECK(ways.accepted() == 2);
}

TEST_CASE("postgres: an upload that a killed daemon cuts leaves not a row behind") {
  TwoWays ways{"5432"};
  const Postgres server{ways.server()};
  server.ask("create table rows (text text)");
  const PostgresWire client{ways.client(), lab::endpoint(lab::kServer4, Postgres::kPort)};
  client.send_query("copy rows from stdin");
  client.await('G');
  for (int n = 0; n < 100; ++n) client.send_copy(std::string(50'000, 'x') + "\n");
  ways.kill_daemon();
  CHECK(client.socket().receive_to_end().end == lab::End::reset);
  CHECK(eventually([&] { return server.active() == 0; }));
  CHECK(server.ask("select count(*) from rows") == "0");
}
