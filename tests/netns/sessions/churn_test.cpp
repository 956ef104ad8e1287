// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/resource.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "bench/workload/serve.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

std::ptrdiff_t descriptors_of(pid_t pid) {
  const std::filesystem::directory_iterator all{"/proc/" + std::to_string(pid) + "/fd"};
  return std::distance(begin(all), end(all));
}

// Answers each connection in turn until nobody came for a while after `stop`.
void answer_all(const lab::Socket& listener, const std::atomic<bool>& stop) {
  while (!stop)
    if (const auto connection = listener.try_accept(100ms)) {
      if (connection->receive_exactly(3).bytes == "ask") connection->send_all("answer");
      connection->receive_to_end();
    }
}

bool ask(const lab::InlineLab& lab, const std::string& place) {
  const auto client = lab::Socket::try_connect(lab.client, place);
  if (client.end != lab::End::done || client.socket.send_all("ask") != lab::End::done) return false;
  return client.socket.receive_exactly(6).bytes == "answer";
}

void limit_descriptors(pid_t pid, rlim_t most) {
  rlimit limit{};
  lab::checked(::prlimit(pid, RLIMIT_NOFILE, nullptr, &limit), "prlimit");
  limit.rlim_cur = most;
  lab::checked(::prlimit(pid, RLIMIT_NOFILE, &limit, nullptr), "prlimit");
}

}  // namespace

TEST_CASE("churn: 2,000 short connections leave no session, no descriptor and no complaint behind") {
  constexpr int kConnections = 2'000, kThreads = 4;
  const lab::InlineLab lab;
  DaemonSettings settings;
  settings.more = "[limits]\nsessions_per_client = \"100%\"\n";
  const Daemon daemon{lab, settings};
  const std::string place = lab::endpoint(lab::kServer4, 5001);
  const auto listener = lab::Socket::listen(lab.server, place);
  std::atomic<bool> stop = false;
  std::atomic<int> begun = 0, good = 0;
  const auto baseline = descriptors_of(daemon.pid());
  {
    std::vector<std::jthread> servers, clients;
    for (int t = 0; t < kThreads; ++t) servers.emplace_back([&] { answer_all(listener, stop); });
    for (int t = 0; t < kThreads; ++t)
      clients.emplace_back([&] {
        while (begun++ < kConnections)
          if (ask(lab, place)) ++good;
      });
    clients.clear();
    stop = true;
  }
  CHECK(good == kConnections);
  CHECK(eventually([&] { return daemon.status()["sessions"] == 0; }));
  // Its own control connections and a worker's pooled pipes aside.
  CHECK(eventually([&] { return descriptors_of(daemon.pid()) <= baseline + 8; }));
  CHECK(daemon.status()["counters"]["accepted"] == kConnections);
  CHECK(daemon.log().find("error") == std::string::npos);
  CHECK(daemon.log().find("warning") == std::string::npos);
}

TEST_CASE("churn: two workers share the load") {
  const lab::InlineLab lab;
  DaemonSettings settings;
  settings.more = "[log]\nformat = \"json\"\n";
  const Daemon daemon{lab, settings};
  const std::string place = lab::endpoint(lab::kServer4, 5001);
  const auto listener = lab::Socket::listen(lab.server, place);
  std::atomic<bool> stop = false;
  {
    std::jthread server{[&] { answer_all(listener, stop); }};
    for (int n = 0; n < 40; ++n) CHECK(ask(lab, place));
    stop = true;
  }
  REQUIRE(daemon.logged("\"closed\"", 40));
  // A session's number tells its worker in the bits above the 48th (proxy/worker.cpp).
  int of_worker[2] = {};
  const std::string log = daemon.log();
  for (std::size_t at = log.find("\"id\":"); at != std::string::npos; at = log.find("\"id\":", at + 1))
    ++of_worker[std::strtoull(log.c_str() + at + 5, nullptr, 10) >> 48 & 1];
  CHECK(of_worker[0] + of_worker[1] == 40);
  CHECK(of_worker[0] >= 5);
  CHECK(of_worker[1] >= 5);
}

namespace {

struct Crowd {
  std::vector<lab::Socket> served;  // kept, so that what they took is not free again
  int turned_away = 0;
};

// False when it is reset, true when the server hears of it; the descriptors that are free change with what
// the daemon's other threads do.
bool is_served(const lab::Socket& client, const lab::Socket& listener, std::vector<lab::Socket>& served) {
  bool reset = false;
  CHECK(eventually([&] {
    auto server = listener.try_accept(10ms);
    if (server) served.push_back(std::move(*server));
    reset = !server && client.receive_some(1, 1ms).end == lab::End::reset;
    return server || reset;
  }));
  return !reset;
}

Crowd connect_until_turned_away(const lab::InlineLab& lab, const lab::Socket& listener,
                                const std::string& place, int times) {
  Crowd crowd;
  for (int n = 0; n < 200 && crowd.turned_away < times; ++n) {
    auto attempt = lab::Socket::try_connect(lab.client, place);
    if (attempt.end == lab::End::done && is_served(attempt.socket, listener, crowd.served))
      crowd.served.push_back(std::move(attempt.socket));
    else
      ++crowd.turned_away;
  }
  return crowd;
}

// UBSan looks at an object through a pipe when its cache does not know it, and takes it for garbage when it
// gets no descriptors for that.
bool ended_by_the_sanitizer(const Daemon& daemon) {
  return daemon.log().find("<memory cannot be printed>") != std::string::npos;
}

void check_recovery(const lab::InlineLab& lab, const lab::Socket& listener, const std::string& place) {
  std::atomic<bool> stop = false;
  std::jthread server{[&] { answer_all(listener, stop); }};
  for (int n = 0; n < 10; ++n) CHECK(ask(lab, place));
  stop = true;
}

// False when there was nothing to see, because of the sanitizer.
bool exhaust_and_recover(const lab::InlineLab& lab) {
  DaemonSettings settings;
  settings.more = "[limits]\nsessions_per_client = \"100%\"\n";
  const Daemon daemon{lab, settings};
  const std::string place = lab::endpoint(lab::kServer4, 5001);
  const Ends live = connect_ends(lab, lab::endpoint(lab::kServer4, 5002));
  const auto listener = lab::Socket::listen(lab.server, place);
  limit_descriptors(daemon.pid(), static_cast<rlim_t>(descriptors_of(daemon.pid())));
  Crowd crowd = connect_until_turned_away(lab, listener, place, 10);
  if (ended_by_the_sanitizer(daemon)) return false;
  INFO(daemon.log());
  CHECK(crowd.turned_away == 10);
  REQUIRE(live.client.send_all("live") == lab::End::done);
  CHECK(live.server.receive_exactly(4).bytes == "live");
  limit_descriptors(daemon.pid(), 4096);
  crowd.served.clear();
  check_recovery(lab, listener, place);
  const auto counters = daemon.status()["counters"];
  CAPTURE(counters.dump());
  CHECK(counters["shed"].get<int>() + counters["closed"].value("no_resources", 0) >= 10);
  return true;
}

}  // namespace

TEST_CASE(
    "descriptors: when they run out new connections are shed and counted, live ones go on, and it recovers") {
  const lab::InlineLab lab;
  bool seen = false;
  for (int n = 0; n < 6 && !seen; ++n) seen = exhaust_and_recover(lab);
  if (!seen) WARN("the sanitizer ended each of six daemons that had no descriptors");
}
