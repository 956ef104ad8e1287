// SPDX-License-Identifier: GPL-3.0-or-later
// What PostgreSQL's own clients get through headrace is what they get direct.
#include "bench/lab/socket_address.hpp"
#include "tests/netns/databases/postgres.hpp"
#include "tests/netns/databases/postgres_wire.hpp"
#include "tests/test.hpp"

using namespace headrace;
using Catch::Matchers::Contains;

namespace {

const std::string kTable =
    "create table seeded as select i, md5(i::text) as text, sha512((i * 7)::text::bytea) as bytes "
    "from generate_series(1, 30000) i";
const std::string kChecksum = "select count(*), md5(string_agg(t::text, '' order by i)) from ";

// pgbench's report, with what it did wrong, or its complaint.
std::string pgbench(const TwoWays& ways, std::vector<std::string> words) {
  words.insert(words.begin(), "pgbench");
  words.insert(words.end(), {"-n", "-h", lab::kServer4, "-U", "postgres", "-c", "4", "postgres"});
  return ways.client().command(words);
}

void check_all_done(const std::string& report, int transactions) {
  const std::string all = std::to_string(transactions);
  CHECK_THAT(report, Contains("actually processed: " + all + "/" + all + "\n") &&
                         Contains("failed transactions: 0 (0.000%)"));
}

}  // namespace

TEST_CASE("postgres: a large result and COPY both ways are the same as direct, in both families") {
  const TwoWays ways{"5432"};
  const Postgres server{ways.server()};
  server.ask(kTable);
  server.ask("create table loaded (like seeded)");
  const std::string expected = server.ask(kChecksum + "seeded t");
  const lab::TempDir here;
  for (const auto& [through, direct] : TwoWays::pairs()) {
    CAPTURE(through);
    const std::string select = "select * from seeded order by i";
    const std::string result = ways.client().command(psql(through, select));
    CHECK(result.size() > 4'000'000);
    CHECK((result == ways.client().command(psql(direct, select))));
    const std::string out = "copy seeded to stdout (format binary)";
    const std::string copied = ways.client().command(psql(through, out));
    CHECK(copied.size() > 3'000'000);
    CHECK((copied == ways.client().command(psql(direct, out))));
    server.ask("truncate loaded");
    const std::string in =
        "\\copy loaded from '" + here.write("copied", copied).string() + "' (format binary)";
    ways.client().command(psql(through, in));
    CHECK(server.ask(kChecksum + "loaded t") == expected);
  }
  CHECK(ways.accepted() == 6);
}

TEST_CASE(
    "postgres: pgbench with prepared statements, pipelines and new connections has no failed transaction") {
  const TwoWays ways{"5432"};
  const Postgres server{ways.server()};
  ways.server().command({"pgbench", "-i", "-q", "-h", server.directory(), "-U", "postgres", "postgres"});
  check_all_done(pgbench(ways, {"-S", "-M", "prepared", "-t", "250"}), 1000);
  check_all_done(pgbench(ways, {"-M", "prepared", "-t", "50"}), 200);
  check_all_done(pgbench(ways, {"-S", "--connect", "-t", "25"}), 100);
  CHECK(server.ask("select count(*), sum(delta) = (select sum(abalance) from pgbench_accounts) "
                   "from pgbench_history") == "200|t");
  const lab::TempDir here;
  const std::string lookup = "select abalance from pgbench_accounts where aid = :aid;\n";
  const auto script = here.write("script", "\\set aid random(1, 100000)\n\\startpipeline\n" + lookup +
                                               lookup + lookup + "\\endpipeline\n");
  check_all_done(pgbench(ways, {"-M", "extended", "-t", "100", "-f", script}), 400);
  CHECK(ways.accepted() >= 3 * 4 + 100);
}

TEST_CASE("postgres: the server sees the client's own address and port, in both families") {
  const TwoWays ways{"5432"};
  const Postgres server{ways.server()};
  for (const auto& [through, direct] : TwoWays::pairs()) {
    const PostgresWire client{ways.client(), lab::endpoint(through, Postgres::kPort)};
    const lab::SocketAddress own{client.socket().local()};
    CHECK(client.ask("select host(inet_client_addr()), inet_client_port()") ==
          own.host() + "|" + std::to_string(own.port()));
  }
  CHECK(ways.accepted() == 2);
}

TEST_CASE("postgres: SSL with a verified name, SCRAM and channel binding is the same as direct") {
  const TwoWays ways{"5432"};
  const Postgres server{ways.server()};
  make_certificate(server.files(), "stranger");
  const auto guarded = [](const std::string& certificate) {
    return "user=guarded password=secret sslmode=verify-full channel_binding=require sslrootcert=" +
           certificate;
  };
  for (const auto& [through, direct] : TwoWays::pairs()) {
    CAPTURE(through);
    const std::string select =
        "select version, cipher from pg_stat_ssl where pid = pg_backend_pid() union all "
        "select i::text, sha512(i::text::bytea)::text from generate_series(1, 20000) i";
    const std::string result = ways.client().command(psql(through, select, guarded(server.certificate())));
    CHECK(result.size() > 2'000'000);
    CHECK(result.starts_with("TLSv1.3|"));
    CHECK((result == ways.client().command(psql(direct, select, guarded(server.certificate())))));
    const std::string wrong = server.files() / "stranger.crt";
    lab::Process refused{ways.client(), psql(through, "select 1", guarded(wrong))};
    const Said said = run_to_end(refused);
    CHECK(said.status == 2);
    CHECK_THAT(said.text, Contains("certificate verify failed"));
  }
  CHECK(ways.accepted() == 4);
}
