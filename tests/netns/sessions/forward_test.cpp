// SPDX-License-Identifier: GPL-3.0-or-later
#include <csignal>

#include "bench/lab/process.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

// `headrace forward ...` in the middle, by a user who may do nothing special.
lab::Process forward(const lab::InlineLab& lab, const lab::TempDir& directory,
                     const std::vector<std::string>& words) {
  std::vector<std::string> line{"setpriv",
                                "--reuid=65534",
                                "--regid=65534",
                                "--clear-groups",
                                "--bounding-set=-all",
                                "--inh-caps=-all",
                                "--no-new-privs",
                                program_for_anybody(directory),
                                "forward"};
  line.insert(line.end(), words.begin(), words.end());
  return lab::Process{lab.middle, line};
}

lab::Process run_words(const lab::InlineLab& lab, const std::vector<std::string>& words) {
  std::vector<std::string> line{HEADRACE_PROGRAM};
  line.insert(line.end(), words.begin(), words.end());
  return lab::Process{lab.middle, line};
}

int exit_code(lab::Process& process) {
  const auto status = process.wait(20s);
  REQUIRE(status);
  return status->code;
}

}  // namespace

TEST_CASE("forward: an unprivileged user gets a relay, is told what it cannot do, and a summary at the end") {
  lab::InlineLabSettings settings;
  settings.client_link = lab::LinkSettings::round_trip(20ms);
  const lab::InlineLab lab{settings};
  const lab::TempDir directory;
  lab::Process forwarder = forward(lab, directory, {"0.0.0.0:1522", "198.18.2.2:1521"});
  REQUIRE(forwarder.wait_for_output(" ready ", 20s));
  CHECK(forwarder.wait_for_output("the server sees this host's address, not the client's", 10s));
  {
    const auto listener = lab::Socket::listen(lab.server, "198.18.2.2:1521");
    const auto client = lab::Socket::connect(lab.client, "198.18.1.1:1522");
    const auto server = listener.accept();
    CHECK_THAT(server.peer(), Catch::Matchers::StartsWith("198.18.2.1:"));
    const std::string answer = lab::pattern(5'000);
    for (int n = 0; n < 10; ++n) {
      REQUIRE(client.send_all("what is it?") == lab::End::done);
      REQUIRE(server.receive_exactly(11).bytes == "what is it?");
      REQUIRE(server.send_all(answer) == lab::End::done);
      REQUIRE(client.receive_exactly(answer.size()).bytes == answer);
    }
    client.shutdown_write();
    CHECK(server.receive_to_end().end == lab::End::end_of_stream);
    server.shutdown_write();
    CHECK(client.receive_to_end().end == lab::End::end_of_stream);
  }
  CHECK(forwarder.wait_for_output("closed=client_fin", 10s));
  forwarder.signal(SIGINT);
  CHECK(exit_code(forwarder) == 0);
  CHECK_THAT(forwarder.output(), Contains("1 sessions, 10 exchanges, 1.") &&
                                     Contains(" round trips each; ") &&
                                     Contains("110 bytes to the server, 50000 to the client"));
}

TEST_CASE("forward: what an unprivileged user may not set is named, and left out") {
  const lab::InlineLab lab;
  const lab::TempDir directory;
  lab::Process forwarder = forward(lab, directory, {"0.0.0.0:1522", "198.18.2.2:1521"});
  REQUIRE(forwarder.wait_for_output(" ready ", 20s));
  const std::string allowed = lab.middle.sysctl("net.ipv4.tcp_allowed_congestion_control");
  const bool may_choose_cubic = allowed.find("cubic") != std::string::npos;
  CAPTURE(allowed, forwarder.output());
  CHECK((forwarder.output().find("client leg: without setsockopt(TCP_CONGESTION, \"cubic\")") ==
         std::string::npos) == may_choose_cubic);
  const auto listener = lab::Socket::listen(lab.server, "198.18.2.2:1521");
  const auto client = lab::Socket::connect(lab.client, "198.18.1.1:1522");
  const auto server = listener.accept();
  REQUIRE(client.send_all("ask") == lab::End::done);
  CHECK(server.receive_exactly(3).bytes == "ask");
}

TEST_CASE("forward: works over IPv6, and from IPv6 to IPv4") {
  const lab::InlineLab lab;
  const lab::TempDir directory;
  lab::Process forwarder = forward(lab, directory, {"[2001:db8:1::1]:1522", "198.18.2.2:1521"});
  REQUIRE(forwarder.wait_for_output(" ready ", 20s));
  const auto listener = lab::Socket::listen(lab.server, "198.18.2.2:1521");
  const auto client = lab::Socket::connect(lab.client, "[2001:db8:1::1]:1522");
  const auto server = listener.accept();
  REQUIRE(client.send_all("ask") == lab::End::done);
  CHECK(server.receive_exactly(3).bytes == "ask");
}

TEST_CASE("forward: what cannot work is refused at the start, in one clear line") {
  const lab::InlineLab lab;
  const auto taken = lab::Socket::listen(lab.middle, "198.18.1.1:1600");
  struct Row {
    std::vector<std::string> words;
    int code;
    std::string says;
  };
  const std::vector<Row> rows{
      {{"forward", "198.18.1.1:1600", "198.18.2.2:1521"}, 1, "in use"},
      {{"forward", "198.18.7.7:1522", "198.18.2.2:1521"}, 1, "not an address of this host"},
      {{"forward", "127.0.0.1:1522", "127.0.0.1:1522"}, 1, "forward to itself"},
      {{"forward", "1522", "1522"}, 1, "forward to itself"},
      {{"forward", "0.0.0.0:1522", "127.0.0.1:1522"}, 1, "forward to itself"},
      {{"forward", "[::]:1522", "[2001:db8:1::1]:1522"}, 1, "forward to itself"},
      {{"forward", "1522", "198.18.2.2:1521", "--client-leg", "nosuch"}, 1, "unknown profile \"nosuch\""},
      {{"forward"}, 2, "LISTEN"},
      {{"forward", "1522"}, 2, "TO"},
      {{"forward", "nonsense:port", "198.18.2.2:1521"}, 2, "LISTEN"},
      {{"forward", "1522", "198.18.2.2:99999"}, 2, "TO"},
      {{"forward", "1522", "198.18.2.2:1521", "--nosuch"}, 2, "--nosuch"},
      {{"nosuch"}, 2, "unknown command"},
      {{}, 2, "subcommand"},
  };
  for (const Row& row : rows) {
    lab::Process process = run_words(lab, row.words);
    CAPTURE(row.words);
    CHECK(exit_code(process) == row.code);
    CHECK_THAT(process.output(), Contains(row.says));
  }
}

TEST_CASE("forward: [[forward]] in the daemon's file is a relay beside the interception") {
  const lab::InlineLab lab;
  DaemonSettings settings;
  settings.more = "[[forward]]\nlisten = \"198.18.1.1:1522\"\nto = \"198.18.2.2:1521\"\n";
  const Daemon daemon{lab, settings};
  const auto listener = lab::Socket::listen(lab.server, "198.18.2.2:1521");
  {
    const auto client = lab::Socket::connect(lab.client, "198.18.1.1:1522");
    const auto server = listener.accept();
    CHECK_THAT(server.peer(), Catch::Matchers::StartsWith("198.18.2.1:"));
    REQUIRE(client.send_all("ask") == lab::End::done);
    CHECK(server.receive_exactly(3).bytes == "ask");
  }
  CHECK(daemon.logged("policy=forward:198.18.1.1:1522"));
  const auto client = lab::Socket::connect(lab.client, "198.18.2.2:1521");
  CHECK(listener.accept().peer() == client.local());
}
