// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/session_summary.hpp"

#include "proxy/counters.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

using namespace std::chrono_literals;

SessionSummary oracle_session() {
  SessionSummary summary;
  summary.id = 7;
  summary.flow = {ClientEndpoint{{IpAddress::v4({198, 18, 1, 2}), 40112}},
                  OriginalDestination{{IpAddress::v4({198, 18, 2, 9}), 1521}}};
  summary.policy = "oracle";
  summary.client_profile = "wan-interactive";
  summary.server_profile = "lan";
  summary.traffic = {8421, 3742400, 400, 400, 16'400ms};
  summary.duration = 16'300ms;
  summary.client.rtt = 40'200us;
  summary.client.min_rtt = 40'000us;
  summary.server.rtt = 300us;
  summary.reason = CloseReason::client_fin;
  return summary;
}

}  // namespace

TEST_CASE("summary: a session is one line of text") {
  CHECK(print_text(oracle_session()) ==
        "session client=198.18.1.2:40112 server=198.18.2.9:1521 policy=oracle legs=wan-interactive/lan "
        "bytes=8421/3742400 exchanges=400 rounds=1.02 client_rtt=40.2ms server_rtt=0.3ms retrans=0/0 "
        "closed=client_fin took=16.300s");
}

TEST_CASE("summary: a session is one line of JSON") {
  CHECK(print_json(oracle_session()) ==
        R"({"id":7,"client":"198.18.1.2:40112","server":"198.18.2.9:1521","policy":"oracle",)"
        R"("bytes_to_server":8421,"bytes_to_client":3742400,"exchanges":400,"duration_s":16.3,)"
        R"("client_leg":{"profile":"wan-interactive","rtt_us":40200,"min_rtt_us":40000,"retransmits":0},)"
        R"("server_leg":{"profile":"lan","rtt_us":300,"min_rtt_us":0,"retransmits":0},)"
        R"("other_port":false,"closed":"client_fin","rounds":1.025})");
}

TEST_CASE("summary: rounds are left out where the round trip is too short to mean anything") {
  SessionSummary summary = oracle_session();
  summary.client.min_rtt = 999us;
  CHECK_FALSE(rounds_per_exchange(summary));
  CHECK(print_text(summary).find("rounds=") == std::string::npos);
}

TEST_CASE("summary: rounds are left out where no exchange was timed") {
  SessionSummary summary = oracle_session();
  summary.traffic.timed_exchanges = 0;
  CHECK_FALSE(rounds_per_exchange(summary));
}

TEST_CASE("summary: a tuple that clashed is said") {
  SessionSummary summary = oracle_session();
  summary.other_port = true;
  CHECK(print_text(summary).find(" port=other ") != std::string::npos);
}

TEST_CASE("summary: a name that is no UTF-8 does not end the daemon") {
  SessionSummary summary = oracle_session();
  summary.policy = "\xff";
  CHECK(print_json(summary).find("\"policy\":\"\xef\xbf\xbd\"") != std::string::npos);
}

TEST_CASE("counters: an ended session is counted by its reason, bytes and rounds") {
  Counters counters;
  counters.session_began();
  counters.session_ended(oracle_session());
  const Counters::Snapshot seen = counters.snapshot();
  CHECK(seen.accepted == 1);
  CHECK(seen.live == 0);
  CHECK(seen.to_server == 8421);
  CHECK(seen.to_client == 3742400);
  CHECK(seen.timed_exchanges == 400);
  CHECK(seen.millirounds == 410'000);
  CHECK(seen.closed[static_cast<std::size_t>(CloseReason::client_fin)] == 1);
}

TEST_CASE("counters: workers' snapshots add up") {
  Counters counters;
  counters.session_began();
  counters.connection_shed();
  counters.limit_refused();
  counters.direct_refused();
  counters.call_failed();
  Counters::Snapshot sum = counters.snapshot();
  sum += counters.snapshot();
  CHECK(sum.accepted == 2);
  CHECK(sum.live == 2);
  CHECK(sum.shed == 2);
  CHECK(sum.refused_limit == 2);
  CHECK(sum.refused_direct == 2);
  CHECK(sum.failed_calls == 2);
}

TEST_CASE("close reasons: every one has its own name and stands at its own place") {
  for (std::size_t i = 0; i < kCloseReasons.size(); ++i) {
    CHECK(static_cast<std::size_t>(kCloseReasons[i].reason) == i);
    for (std::size_t j = 0; j < i; ++j) CHECK(kCloseReasons[i].name != kCloseReasons[j].name);
  }
}

}  // namespace headrace
