// SPDX-License-Identifier: GPL-3.0-or-later
#include <csignal>

#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/storm.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

void end(Conversation& session) {
  session.client.shutdown_write();
  CHECK(session.server.receive_to_end().end == lab::End::end_of_stream);
  session.server.close();
  CHECK(session.client.receive_to_end().end == lab::End::end_of_stream);
}

}  // namespace

TEST_CASE("drain: live sessions finish, new flows go direct, and the daemon ends with the last session") {
  const lab::InlineLab lab;
  Daemon daemon{lab};
  const auto listeners = listen_in_both(lab);
  std::vector<Conversation> live;
  for (const lab::Socket& listener : listeners) live.push_back(converse(lab, listener));
  SECTION("by SIGTERM") { daemon.signal(SIGTERM); }
  SECTION("by command") { daemon.command({"drain"}); }
  REQUIRE(daemon.logged("draining sessions=2"));
  CHECK(eventually([&] { return way_of_new_flows(lab, listeners) == "direct"; }));
  for (Conversation& session : live) {
    CHECK(daemon.running());
    CHECK(speaks(session));
    CHECK(carries(session.server, session.client, 300'000));
    CHECK(is_through(lab, session));
    end(session);
  }
  CHECK(daemon.wait() == lab::ExitStatus{0, 0});
  CHECK(daemon.log().find("closed=stopped") == std::string::npos);
  CHECK(way_of_new_flows(lab, listeners) == "direct");
}

TEST_CASE("drain: timeouts.drain resets what has not ended by then") {
  const lab::InlineLab lab;
  DaemonSettings settings;
  settings.more = "[timeouts]\ndrain = \"300ms\"\n";
  Daemon daemon{lab, settings};
  const auto listeners = listen_in_both(lab);
  std::vector<Conversation> live;
  for (const lab::Socket& listener : listeners) live.push_back(converse(lab, listener));
  for (const Conversation& session : live) CHECK(speaks(session));
  daemon.signal(SIGTERM);
  CHECK(daemon.wait(10s) == lab::ExitStatus{0, 0});
  for (const Conversation& session : live) {
    CHECK(session.client.receive_to_end().end == lab::End::reset);
    CHECK(session.server.receive_to_end().end == lab::End::reset);
  }
  CHECK(daemon.logged("closed=drain_timeout", 2));
}

TEST_CASE("drain: a second SIGTERM stops at once and resets") {
  const lab::InlineLab lab;
  Daemon daemon{lab};
  const auto listeners = listen_in_both(lab);
  const auto live = converse(lab, listeners.front());
  CHECK(speaks(live));
  daemon.signal(SIGTERM);
  REQUIRE(daemon.logged("draining sessions=1"));
  daemon.signal(SIGTERM);
  CHECK(daemon.wait() == lab::ExitStatus{0, 0});
  CHECK(live.client.receive_to_end().end == lab::End::reset);
  CHECK(live.server.receive_to_end().end == lab::End::reset);
  CHECK(way_of_new_flows(lab, listeners) == "direct");
}

TEST_CASE("drain: a storm of connections loses none to five restarts") {
  const lab::InlineLab lab;
  Daemon daemon{lab};
  const auto listeners = listen_in_both(lab);
  Storm storm{lab, listeners, 400};
  for (int restart = 0; restart < 5; ++restart) {
    REQUIRE(storm.wait_for(restart * 70));
    daemon.signal(SIGTERM);
    CHECK(daemon.wait() == lab::ExitStatus{0, 0});
    daemon.start();
  }
  CHECK(storm.trouble() == "");
}
