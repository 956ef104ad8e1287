// SPDX-License-Identifier: GPL-3.0-or-later
#include <regex>
#include <thread>

#include "bench/workload/exchange.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr int kExchanges = 20;

// Back-to-back exchanges of 21 and 9,356 bytes; the client's own endpoint.
std::string exchange_all(const lab::InlineLab& lab) {
  const std::string place = lab::endpoint(lab::kServer4, 5001);
  const Ends ends = connect_ends(lab, place);
  const std::string answer = lab::pattern(9'356);
  for (int n = 0; n < kExchanges; ++n) {
    REQUIRE(ends.client.send_all(lab::pattern(21)) == lab::End::done);
    REQUIRE(ends.server.receive_exactly(21).end == lab::End::done);
    REQUIRE(ends.server.send_all(answer) == lab::End::done);
    REQUIRE(ends.client.receive_exactly(answer.size()).bytes == answer);
  }
  ends.client.shutdown_write();
  CHECK(ends.server.receive_to_end().end == lab::End::end_of_stream);
  const std::string client = ends.client.local();
  ends.server.shutdown_write();
  CHECK(ends.client.receive_to_end().end == lab::End::end_of_stream);
  return client;
}

DaemonSettings logging(const std::string& keys) {
  return with_policies(policy(5001, "\"wan-interactive\"", "{ profile = \"lan\", mss = 1400 }"),
                       "[log]\n" + keys);
}

lab::InlineLabSettings far_client() {
  lab::InlineLabSettings settings;
  settings.client_link = lab::LinkSettings::round_trip(40ms);
  return settings;
}

}  // namespace

TEST_CASE("session line: the text has every field, and one round trip an exchange over 40 ms") {
  const lab::InlineLab lab{far_client()};
  const Daemon daemon{lab, logging("format = \"text\"\n")};
  const std::string client = exchange_all(lab);
  REQUIRE(daemon.logged("closed="));
  const std::string log = daemon.log();
  const std::regex line{
      R"(session client=(\S+) server=(\S+) policy=p5001 legs=wan-interactive/lan\+ bytes=420/187120 exchanges=20 )"
      R"(rounds=([0-9.]+) client_rtt=([0-9.]+)ms server_rtt=([0-9.]+)ms retrans=0/0 closed=client_fin took=[0-9.]+s)"};
  std::smatch found;
  CAPTURE(log);
  REQUIRE(std::regex_search(log, found, line));
  CHECK(found[1] == client);
  CHECK(found[2] == "198.18.2.2:5001");
  CHECK(std::stod(found[3]) > 0.8);
  CHECK(std::stod(found[3]) < 1.6);
  CHECK(std::stod(found[4]) >= 40.0);
  CHECK(std::stod(found[5]) < 40.0);
}

TEST_CASE("session line: the JSON has the same") {
  const lab::InlineLab lab{far_client()};
  const Daemon daemon{lab, logging("format = \"json\"\n")};
  const std::string client = exchange_all(lab);
  REQUIRE(daemon.logged("\"closed\""));
  const std::string log = daemon.log();
  const auto at = log.find("\"session\"");
  REQUIRE(at != std::string::npos);
  const auto begin = log.rfind('\n', at) == std::string::npos ? 0 : log.rfind('\n', at) + 1;
  const auto line = nlohmann::json::parse(log.substr(begin, log.find('\n', at) - begin));
  const auto& session = line.at("session");
  CAPTURE(session.dump());
  CHECK(session.at("client") == client);
  CHECK(session.at("server") == "198.18.2.2:5001");
  CHECK(session.at("policy") == "p5001");
  CHECK(session.at("bytes_to_server") == 420);
  CHECK(session.at("bytes_to_client") == 187'120);
  CHECK(session.at("exchanges") == kExchanges);
  CHECK(session.at("closed") == "client_fin");
  CHECK(session.at("other_port") == false);
  CHECK(session.at("client_leg").at("profile") == "wan-interactive");
  CHECK(session.at("server_leg").at("profile") == "lan+");
  CHECK(session.at("client_leg").at("min_rtt_us") >= 40'000);
  CHECK(session.at("server_leg").at("rtt_us") < 40'000);
  CHECK(session.at("client_leg").at("retransmits") == 0);
  CHECK(session.at("rounds") > 0.8);
  CHECK(session.at("rounds") < 1.6);
  CHECK(session.at("duration_s") > 0.8);
  CHECK(session.at("id") > 0);
}

TEST_CASE("session line: log.sessions = false leaves it out") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, logging("sessions = false\n")};
  exchange_all(lab);
  CHECK(eventually([&] { return daemon.status()["counters"]["closed"].value("client_fin", 0) == 1; }));
  daemon.command({"bypass", "on"});  // its line comes after what the session would have written
  CHECK(daemon.logged("bypass on"));
  CHECK(daemon.log().find("session client=") == std::string::npos);
}
