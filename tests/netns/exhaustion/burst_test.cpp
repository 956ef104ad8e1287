// SPDX-License-Identifier: GPL-3.0-or-later
// 5,000 connections whose SYNs leave at once: taken, refused or shed as configured, without a flood in the
// log and without a processor that spins; and afterwards all is as before.
#include "tests/netns/exhaustion/crowd.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kCrowd = 5'000;
constexpr std::size_t kFewLines = 20;   // of a log without session lines
constexpr auto kAlmostNothing = 200ms;  // of a second

DaemonSettings settings_for_crowd(const std::string& limits) {
  DaemonSettings settings;
  settings.more = "[log]\nsessions = false\n[limits]\nsessions_per_client = \"100%\"\n" + limits;
  return settings;
}

std::size_t listen_overflows(const lab::InlineLab& lab) {
  const std::string text = lab.middle.command({"nstat", "-az", "TcpExtListenOverflows"});
  return static_cast<std::size_t>(fact(text, "TcpExtListenOverflows"));
}

// Everybody goes; then a session works, and what the crowd took is given back.
void check_recovery(const lab::InlineLab& lab, const Daemon& daemon, std::size_t baseline) {
  CHECK(eventually([&] { return daemon.status()["sessions"] == 0; }, 30s));
  const Ends again = connect_ends(lab, lab::endpoint(lab::kServer4, 5002));
  REQUIRE(again.client.send_all("again") == lab::End::done);
  CHECK(again.server.receive_exactly(5).bytes == "again");
  CHECK(eventually([&] { return descriptors_of(daemon.pid()) <= baseline + 10; }));
  CHECK(daemon.status()["held_bytes"] == 0);
}

}  // namespace

TEST_CASE("burst: 5,000 connections at once are all served") {
  raise_own_descriptor_limit();
  const lab::InlineLab lab;
  const Daemon daemon{lab, settings_for_crowd("")};
  const std::size_t baseline = descriptors_of(daemon.pid());
  {
    const std::string place = lab::endpoint(lab::kServer4, 5001);
    const auto listener = listen_for_crowd(lab, place);
    const auto clients = connect_at_once(lab, place, kCrowd);
    const auto servers = accept_all(listener, kCrowd);
    CHECK(servers.size() == kCrowd);
    CHECK(count_whole(clients) == kCrowd);
    CHECK(all_speak(clients, servers));
    CHECK(listen_overflows(lab) == 0);
    CHECK(daemon.status()["sessions"] == kCrowd);
    CHECK(idle_time_of(daemon, clients.front()) < kAlmostNothing);
    CHECK(lines_of(daemon.log()) < kFewLines);
  }
  check_recovery(lab, daemon, baseline);
}

TEST_CASE("burst: of 5,000 connections at once those too many are reset and counted") {
  constexpr std::size_t kMost = 1'000;
  raise_own_descriptor_limit();
  const lab::InlineLab lab;
  const Daemon daemon{lab, settings_for_crowd("sessions = 1000\noverload = \"refuse\"\n")};
  const std::size_t baseline = descriptors_of(daemon.pid());
  {
    const std::string place = lab::endpoint(lab::kServer4, 5001);
    const auto listener = listen_for_crowd(lab, place);
    const auto clients = connect_at_once(lab, place, kCrowd);
    const auto servers = accept_all(listener, kCrowd);
    CHECK(servers.size() == kMost);
    CHECK(eventually([&] { return count_whole(clients) == kMost; }));
    CHECK(daemon.status()["counters"]["refused_limit"] == kCrowd - kMost);
    CHECK(idle_time_of(daemon, servers.front()) < kAlmostNothing);
    CHECK(lines_of(daemon.log()) < kFewLines);
  }
  check_recovery(lab, daemon, baseline);
}

TEST_CASE("burst: of 5,000 connections at once those too many go direct under bypass, none is lost") {
  raise_own_descriptor_limit();
  const lab::InlineLab lab;
  const Daemon daemon{lab, settings_for_crowd("sessions = 1000\n")};
  const std::size_t baseline = descriptors_of(daemon.pid());
  {
    const std::string place = lab::endpoint(lab::kServer4, 5001);
    const auto listener = listen_for_crowd(lab, place);
    const auto clients = connect_at_once(lab, place, kCrowd);
    const auto servers = accept_all(listener, kCrowd);
    CHECK(servers.size() == kCrowd);
    CHECK(all_speak(clients, servers));
    CHECK(daemon.status()["overload"] == true);
    CHECK(idle_time_of(daemon, clients.front()) < kAlmostNothing);
    CHECK(lines_of(daemon.log()) < kFewLines);
  }
  CHECK(daemon.logged("overload is over"));
  check_recovery(lab, daemon, baseline);
}

TEST_CASE("burst: of 5,000 connections at once those without a descriptor are shed, live ones go on") {
  raise_own_descriptor_limit();
  const lab::InlineLab lab;
  const Daemon daemon{lab, settings_for_crowd("")};
  const std::size_t baseline = descriptors_of(daemon.pid());
  const Ends live = connect_ends(lab, lab::endpoint(lab::kServer4, 5003));
  {
    const std::string place = lab::endpoint(lab::kServer4, 5001);
    const auto listener = listen_for_crowd(lab, place);
    limit_descriptors(daemon.pid(), 1'000);
    const auto clients = connect_at_once(lab, place, kCrowd);
    const auto servers = accept_all(listener, kCrowd);
    CHECK(servers.size() < 1'000);
    CHECK(servers.size() > 300);
    CHECK(eventually([&] { return count_whole(clients) == servers.size(); }, 30s));
    REQUIRE(live.client.send_all("live") == lab::End::done);
    CHECK(live.server.receive_exactly(4).bytes == "live");
    CHECK(idle_time_of(daemon, servers.front()) < kAlmostNothing);
    limit_descriptors(daemon.pid(), RLIM_INFINITY);
    const auto counters = daemon.status()["counters"];
    CHECK(counters["shed"].get<std::size_t>() + counters["closed"].value("no_resources", std::size_t{0}) >=
          kCrowd - servers.size());
    CHECK(lines_of(daemon.log()) < kFewLines);
  }
  REQUIRE(live.client.send_all("live") == lab::End::done);
  CHECK(live.server.receive_exactly(4).bytes == "live");
  CHECK(eventually([&] { return daemon.status()["sessions"] == 1; }, 30s));
  const Ends again = connect_ends(lab, lab::endpoint(lab::kServer4, 5002));
  REQUIRE(again.client.send_all("again") == lab::End::done);
  CHECK(again.server.receive_exactly(5).bytes == "again");
  CHECK(eventually([&] { return descriptors_of(daemon.pid()) <= baseline + 10; }));
}
