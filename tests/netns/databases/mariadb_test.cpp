// SPDX-License-Identifier: GPL-3.0-or-later
// What MariaDB's own client gets through headrace is what it gets direct.
#include <algorithm>
#include <csignal>

#include "tests/netns/databases/mariadb.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

std::string run(const TwoWays& ways, const std::string& address, const std::string& sql) {
  return ways.client().command(mariadb(address), sql);
}

// Protocol version and server version, which stand before what is each connection's own.
std::string greeting(const lab::Socket& client) {
  const std::string packet = client.receive_some(4096).bytes;
  return packet.size() < 5 ? packet : packet.substr(4, packet.find('\0', 5) - 4);
}

std::string hexadecimal(const std::string& bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[byte & 0xf];
  }
  return text;
}

Said interrupt_sleep(const TwoWays& ways, const MariaDb& server, const std::string& address,
                     const std::function<void(const lab::Process&)>& interrupt) {
  lab::Process client{ways.client(), mariadb(address, {"--execute=select sleep(600)"})};
  REQUIRE(eventually([&] { return server.sleeper().has_value(); }));
  interrupt(client);
  return run_to_end(client);
}

}  // namespace

TEST_CASE("mariadb: the greeting comes to a silent client in one round trip and is the same as direct") {
  constexpr auto kRoundTrip = 60ms;
  lab::InlineLabSettings settings;
  settings.client_link = lab::LinkSettings::round_trip(kRoundTrip);
  const TwoWays ways{"3306", "", std::move(settings)};
  const MariaDb server{ways.server()};
  for (const auto& [through, direct] : TwoWays::pairs()) {
    CAPTURE(through);
    const std::string expected =
        greeting(lab::Socket::connect(ways.client(), lab::endpoint(direct, MariaDb::kPort)));
    CHECK_THAT(expected, Contains("MariaDB"));
    std::chrono::nanoseconds best = 1h;
    for (int turn = 0; turn < 5; ++turn) {
      const auto client = lab::Socket::connect(ways.client(), lab::endpoint(through, MariaDb::kPort));
      const auto start = std::chrono::steady_clock::now();
      CHECK(greeting(client) == expected);
      best = std::min(best, since(start));
    }
    CHECK(best < kRoundTrip + 30ms);
  }
}

TEST_CASE("mariadb: a large result and LOAD DATA LOCAL are the same as direct, in both families") {
  const TwoWays ways{"3306"};
  const MariaDb server{ways.server()};
  server.ask(
      "use lab; create table lab.seeded as select seq, md5(seq) text, unhex(sha2(seq * 7, 512)) bytes from "
      "seq_1_to_40000;"
      "create table lab.loaded like lab.seeded");
  const auto checksum = [&](const std::string& table) {
    return server.ask("select count(*), sum(crc32(concat(seq, text, bytes))) from lab." + table);
  };
  const lab::TempDir here;
  for (const auto& [through, direct] : TwoWays::pairs()) {
    CAPTURE(through);
    const std::string select = "select * from seeded order by seq";
    const std::string result = run(ways, through, select);
    CHECK(result.size() > 4'000'000);
    CHECK((result == run(ways, direct, select)));
    // Without --raw, tabs and newlines among the bytes come as LOAD DATA reads them.
    server.ask("truncate lab.loaded");
    const auto file = here.write("rows", ways.client().command(mariadb(through, {"--skip-raw"}), select));
    run(ways, through,
        "load data local infile '" + file.string() + "' into table loaded character set binary");
    CHECK(checksum("loaded") == checksum("seeded"));
  }
  CHECK(ways.accepted() == 6);
}

TEST_CASE("mariadb: a blob that fills the largest packet crosses both ways") {
  const TwoWays ways{"3306"};
  const MariaDb server{ways.server()};
  server.ask("create table lab.blobs (bytes longblob)");
  const std::string blob = lab::pattern((MariaDb::kMaxAllowedPacket - 1000) / 2);
  run(ways, lab::kServer4, "insert into blobs values (x'" + hexadecimal(blob) + "')");
  for (const std::string address : {lab::kServer4, TwoWays::kDirect4}) {
    CAPTURE(address);
    CHECK((run(ways, address, "select concat(bytes, bytes) from blobs") == blob + blob + "\n"));
  }
  CHECK(ways.accepted() == 2);
}

TEST_CASE("mariadb: SSL with a verified name is the same as direct") {
  const TwoWays ways{"3306"};
  const MariaDb server{ways.server()};
  make_certificate(server.files(), "stranger");
  const auto guarded = [](const std::string& address, const std::string& certificate) {
    return mariadb(address, {"--password=secret", "--ssl-ca=" + certificate, "--ssl-verify-server-cert"},
                   "guarded");
  };
  const std::string select =
      "show session status like 'Ssl_version'; select sha2(seq, 512) from seq_1_to_20000";
  for (const auto& [through, direct] : TwoWays::pairs()) {
    CAPTURE(through);
    const std::string result = ways.client().command(guarded(through, server.certificate()), select);
    CHECK(result.starts_with("Ssl_version\tTLSv1.3\n"));
    CHECK((result == ways.client().command(guarded(direct, server.certificate()), select)));
    lab::Process refused{ways.client(), guarded(through, server.files() / "stranger.crt")};
    CHECK_THAT(run_to_end(refused).text, Contains("self-signed certificate"));
  }
  CHECK(ways.accepted() == 4);
}

TEST_CASE("mariadb: KILL QUERY and Ctrl-C end a statement with the server's own error") {
  const TwoWays ways{"3306"};
  const MariaDb server{ways.server()};
  std::vector<Said> said;
  for (const std::string address : {lab::kServer4, TwoWays::kDirect4}) {
    said.push_back(interrupt_sleep(ways, server, address, [&](const lab::Process&) {
      run(ways, address, "kill query " + *server.sleeper());
    }));
    said.push_back(
        interrupt_sleep(ways, server, address, [](const lab::Process& client) { client.signal(SIGINT); }));
  }
  CHECK_THAT(said[0].text, Contains("ERROR 1317 (70100)"));
  CHECK_THAT(said[1].text, Contains("query killed"));
  CHECK(said[0] == said[2]);
  CHECK(said[1] == said[3]);
  CHECK(ways.accepted() == 4);  // two sessions, a connection to kill each
}
