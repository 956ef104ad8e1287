// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/worker.hpp"

#include <ctime>
#include <future>

#include "tests/proxy/waiting.hpp"
#include "tests/proxy/worker_rig.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

std::chrono::duration<double> cpu_time() {
  return std::chrono::duration<double>(static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
}

// What this process computes in a while in which nothing is asked of it.
std::chrono::duration<double> idle_cpu_time() {
  const auto before = cpu_time();
  eventually([] { return false; }, 200ms);
  return cpu_time() - before;
}

}  // namespace

TEST_CASE("worker: exchanges are counted by who spoke after whom") {
  const WorkerRig rig;
  {
    const auto session = rig.open_session();
    session.server.send_all("banner");
    REQUIRE(session.client.receive_exactly(6).bytes == "banner");
    REQUIRE(exchange(session));
    REQUIRE(exchange(session));
    session.client.send_all("two");
    REQUIRE(session.server.receive_exactly(3).bytes == "two");
    session.client.send_all("parts");  // of one request
    REQUIRE(session.server.receive_exactly(5).bytes == "parts");
  }
  REQUIRE(rig.has_live(0));
  CHECK(rig.counters().exchanges == 3);
  CHECK(rig.counters().to_server == 16);
  CHECK(rig.counters().to_client == 14);
}

TEST_CASE("worker: ending its sessions resets both legs") {
  WorkerRig rig;
  const auto session = rig.open_session();
  REQUIRE(exchange(session));
  rig.worker.end_sessions(CloseReason::drain_timeout);
  CHECK(session.client.receive_to_end().end == lab::End::reset);
  CHECK(session.server.receive_to_end().end == lab::End::reset);
  CHECK(rig.has_closed(CloseReason::drain_timeout));
}

TEST_CASE("worker: stopping resets what lives and counts it") {
  WorkerRig rig;
  const auto session = rig.open_session();
  REQUIRE(exchange(session));
  rig.worker.stop();
  CHECK(session.client.receive_to_end().end == lab::End::reset);
  CHECK(rig.counters().closed[static_cast<std::size_t>(CloseReason::stopped)] == 1);
  CHECK(rig.admission.live() == 0);
}

TEST_CASE("worker: stopping twice is stopping") {
  WorkerRig rig;
  rig.worker.stop();
  rig.worker.stop();
  CHECK(rig.counters().live == 0);
}

TEST_CASE("worker: stopping in the middle of transfers and of new connections stops") {
  for (int round = 0; round < 10; ++round) {
    WorkerRig rig;
    const auto session = rig.open_session();
    const std::string bytes = lab::pattern(4'000'000);
    const auto sent = in_background([&] { return session.client.send_all(bytes, 5s); });
    const auto received = in_background([&] { return session.server.receive_to_end(5s).end; });
    std::vector<lab::Socket> others;
    for (int i = 0; i < 10; ++i) others.push_back(rig.connect());
    rig.worker.stop();
    REQUIRE(rig.counters().live == 0);
    REQUIRE(rig.budget.used() == 0);
    REQUIRE(rig.admission.live() == 0);
  }
}

TEST_CASE("worker: closed listeners refuse, live sessions go on") {
  WorkerRig rig;
  const auto session = rig.open_session();
  rig.worker.close_listeners_except({});
  CHECK(eventually([&] {
    try {
      rig.connect();
      return false;
    } catch (const std::exception&) {
      return true;
    }
  }));
  CHECK(exchange(session));
}

TEST_CASE("worker: over the limit of all sessions a client is reset and counted") {
  WorkerRig::Settings settings;
  settings.limits.sessions = 2;
  const WorkerRig rig{settings};
  const auto first = rig.open_session();
  const auto second = rig.open_session();
  CHECK(rig.end_of_connection() == lab::End::reset);
  CHECK(rig.counters().refused_limit == 1);
  CHECK(exchange(first));
}

TEST_CASE("worker: over the limit of one client that client is reset and counted") {
  WorkerRig::Settings settings;
  settings.limits.per_client = 1;
  const WorkerRig rig{settings};
  const auto first = rig.open_session();
  CHECK(rig.end_of_connection() == lab::End::reset);
  CHECK(rig.counters().refused_limit == 1);
}

TEST_CASE("worker: a place that was left can be taken again") {
  WorkerRig::Settings settings;
  settings.limits.per_client = 1;
  const WorkerRig rig{settings};
  {
    const auto first = rig.open_session();
    REQUIRE(exchange(first));
  }
  REQUIRE(rig.has_live(0));
  CHECK(exchange(rig.open_session()));
}

TEST_CASE("worker: three hundred sessions leave nothing behind") {
  WorkerRig rig;
  CHECK(exchange(rig.open_session()));
  REQUIRE(rig.has_live(0));
  const std::size_t before = open_descriptors();
  for (int round = 0; round < 300; ++round) {
    auto session = rig.open_session();
    REQUIRE(exchange(session));
    if (round % 5 == 1) session.client.reset();
    if (round % 5 == 2) session.server.reset();
    if (round % 5 == 3) session.client.shutdown_write();
  }
  REQUIRE(rig.has_live(0));
  CHECK(rig.admission.live() == 0);
  CHECK(rig.budget.used() == 0);
  CHECK(open_descriptors() == before);
}

TEST_CASE("worker: many sessions at once keep their bytes apart") {
  const WorkerRig rig;
  std::vector<WorkerRig::Session> sessions;
  for (int i = 0; i < 40; ++i) sessions.push_back(rig.open_session());
  std::vector<std::future<std::string>> results;
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    results.push_back(in_background([&session = sessions[i], i] {
      const std::string bytes = lab::pattern(300'000, i);
      auto sent = in_background([&] { return session.client.send_all(bytes); });
      return compare(session.server.receive_exactly(bytes.size()).bytes, bytes);
    }));
  }
  for (auto& result : results) CHECK(result.get() == kWhole);
}

TEST_CASE("worker: idle sessions cost no processor time") {
  const WorkerRig rig;
  const auto session = rig.open_session();
  REQUIRE(exchange(session));
  CHECK(idle_cpu_time() < 100ms);
}

TEST_CASE("worker: a session that is stopped by a slow reader costs no processor time") {
  WorkerRig rig;
  const auto session = rig.open_session();
  const std::string bytes = lab::pattern(32'000'000);
  const auto sent = in_background([&] { return session.server.send_all(bytes, 1s); });
  REQUIRE(eventually([&] { return is_done(sent); }));
  CHECK(idle_cpu_time() < 100ms);
  rig.worker.stop();
}

TEST_CASE("worker: busy polling serves sessions and deadlines") {
  WorkerRig::Settings settings;
  settings.busy_poll = 50us;
  settings.timeouts.idle = 100ms;
  const WorkerRig rig{settings};
  CHECK(exchange(rig.open_session()));
  const auto silent = rig.open_session();
  CHECK(silent.client.receive_to_end().end == lab::End::reset);
}

TEST_CASE("worker: legs get the settings of their own side") {
  WorkerRig::Settings settings;
  settings.client_leg.nodelay = false;
  settings.server_leg.quickack = QuickAck::off;
  settings.client_leg.cork = {Cork::Mode::hold, 1ms};
  const WorkerRig rig{settings};
  const auto session = rig.open_session();
  for (int i = 0; i < 20; ++i) REQUIRE(exchange(session));
}

}  // namespace headrace
