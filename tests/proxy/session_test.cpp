// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/socket.h>

#include "tests/proxy/waiting.hpp"
#include "tests/proxy/worker_rig.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

WorkerRig::Settings forwarding_to(const Endpoint& to) {
  WorkerRig::Settings settings;
  settings.forward_to = to;
  return settings;
}

const Endpoint kNobody{IpAddress::v4({127, 0, 0, 1}), 9};

}  // namespace

TEST_CASE("session: a request and its answer pass") {
  const WorkerRig rig;
  CHECK(exchange(rig.open_session()));
}

TEST_CASE("session: a server that speaks first waits for nothing") {
  const WorkerRig rig;
  const auto session = rig.open_session();
  session.server.send_all("220 ready");
  CHECK(session.client.receive_exactly(9).bytes == "220 ready");
}

TEST_CASE("session: bytes sent before the server leg stands arrive") {
  const WorkerRig rig;
  const lab::Socket client = rig.connect();
  client.send_all("early");
  CHECK(rig.listener.accept().receive_exactly(5).bytes == "early");
}

TEST_CASE("session: an end sent before the server leg stands arrives") {
  const WorkerRig rig;
  const lab::Socket client = rig.connect();
  client.send_all("early");
  client.shutdown_write();
  const lab::Socket server = rig.listener.accept();
  const lab::Received received = server.receive_to_end();
  CHECK(received.bytes == "early");
  CHECK(received.end == lab::End::end_of_stream);
  server.send_all("answer");
  CHECK(client.receive_exactly(6).bytes == "answer");
}

TEST_CASE("session: both ends finishing, the client first, is client_fin") {
  const WorkerRig rig;
  const auto session = rig.open_session();
  session.client.shutdown_write();
  CHECK(session.server.receive_to_end().end == lab::End::end_of_stream);
  session.server.shutdown_write();
  CHECK(session.client.receive_to_end().end == lab::End::end_of_stream);
  CHECK(rig.has_closed(CloseReason::client_fin));
}

TEST_CASE("session: both ends finishing, the server first, is server_fin") {
  const WorkerRig rig;
  const auto session = rig.open_session();
  session.server.shutdown_write();
  CHECK(session.client.receive_to_end().end == lab::End::end_of_stream);
  session.client.shutdown_write();
  CHECK(session.server.receive_to_end().end == lab::End::end_of_stream);
  CHECK(rig.has_closed(CloseReason::server_fin));
}

TEST_CASE("session: the last bytes arrive although both legs close right behind them") {
  const WorkerRig rig;
  const std::string bytes = lab::pattern(2'000'000);
  for (int round = 0; round < 20; ++round) {
    auto session = rig.open_session();
    session.client.shutdown_write();
    const auto sent = in_background([&] {
      session.server.send_all(bytes);
      session.server.close();
      return true;
    });
    const lab::Received received = session.client.receive_to_end();
    INFO("round " << round);
    REQUIRE(compare(received.bytes, bytes) == kWhole);
    REQUIRE(received.end == lab::End::end_of_stream);
  }
}

TEST_CASE("session: a reset by the client reaches the server behind its bytes") {
  const WorkerRig rig;
  auto session = rig.open_session();
  const std::string bytes = lab::pattern(50'000);
  session.client.send_all(bytes);
  session.client.reset();
  const lab::Received received = session.server.receive_to_end();
  CHECK(compare(received.bytes, bytes) == kWhole);
  CHECK(received.end == lab::End::reset);
  CHECK(rig.has_closed(CloseReason::client_reset));
}

TEST_CASE("session: a reset by the server reaches the client behind its bytes") {
  const WorkerRig rig;
  auto session = rig.open_session();
  const std::string bytes = lab::pattern(50'000);
  session.server.send_all(bytes);
  session.server.reset();
  const lab::Received received = session.client.receive_to_end();
  CHECK(compare(received.bytes, bytes) == kWhole);
  CHECK(received.end == lab::End::reset);
  CHECK(rig.has_closed(CloseReason::server_reset));
}

TEST_CASE("session: a server that resets at once is still heard") {
  const WorkerRig rig;
  for (int round = 0; round < 50; ++round) {
    const lab::Socket client = rig.connect();
    lab::Socket server = rig.listener.accept();
    server.send_all("too many connections");
    server.reset();
    const lab::Received received = client.receive_to_end();
    INFO("round " << round);
    REQUIRE(received.bytes == "too many connections");
    REQUIRE(received.end == lab::End::reset);
  }
  CHECK(rig.has_closed(CloseReason::server_reset, 50));
}

TEST_CASE("session: a reset after the client's end reaches the silent server") {
  const WorkerRig rig;
  auto session = rig.open_session();
  session.client.shutdown_write();
  REQUIRE(session.server.receive_to_end().end == lab::End::end_of_stream);
  session.client.reset();
  REQUIRE(rig.has_closed(CloseReason::client_reset));
  CHECK(eventually([&] { return session.server.tcp().state == 7; }));  // TCP_CLOSE: it was reset
}

TEST_CASE("session: a refused connection resets the client and never ends it in order") {
  const WorkerRig rig{forwarding_to(kNobody)};
  CHECK(rig.end_of_connection() == lab::End::reset);
  CHECK(rig.has_closed(CloseReason::server_refused));
}

TEST_CASE("session: a client that goes away while the server is sought is client_gone") {
  const DeafListener deaf;
  const WorkerRig rig{forwarding_to(deaf.at())};
  lab::Socket client = rig.connect();
  REQUIRE(rig.has_live(1));
  client.reset();
  CHECK(rig.has_closed(CloseReason::client_gone));
}

TEST_CASE("session: what a client said before it went away is delivered once the server answers") {
  const WorkerRig rig;
  for (int round = 0; round < 50; ++round) {
    lab::Socket client = rig.connect();
    client.send_all("logged and gone");
    client.reset();
    const lab::Received received = rig.listener.accept().receive_to_end();
    INFO("round " << round);
    REQUIRE(received.bytes == "logged and gone");
    REQUIRE(received.end == lab::End::reset);
  }
}

TEST_CASE("session: a server that does not answer in time is connect_timeout") {
  const DeafListener deaf;
  WorkerRig::Settings settings = forwarding_to(deaf.at());
  settings.timeouts.connect = 50ms;
  const WorkerRig rig{settings};
  const lab::Socket client = rig.connect();
  CHECK(client.receive_to_end().end == lab::End::reset);
  CHECK(rig.has_closed(CloseReason::connect_timeout));
}

TEST_CASE("session: silence for timeouts.idle ends it by resets") {
  WorkerRig::Settings settings;
  settings.timeouts.idle = 50ms;
  const WorkerRig rig{settings};
  const auto session = rig.open_session();
  CHECK(session.client.receive_to_end().end == lab::End::reset);
  CHECK(session.server.receive_to_end().end == lab::End::reset);
  CHECK(rig.has_closed(CloseReason::idle_timeout));
}

TEST_CASE("session: bytes put off timeouts.idle") {
  WorkerRig::Settings settings;
  settings.timeouts.idle = 400ms;
  const WorkerRig rig{settings};
  const auto session = rig.open_session();
  const Instant end = Clock::now() + 1s;
  while (Clock::now() < end) REQUIRE(exchange(session));
  CHECK(rig.has_closed(CloseReason::idle_timeout));
}

TEST_CASE("session: half closed and silent for timeouts.half_closed ends by resets") {
  WorkerRig::Settings settings;
  settings.timeouts.half_closed = 50ms;
  const WorkerRig rig{settings};
  const auto session = rig.open_session();
  session.client.shutdown_write();
  CHECK(session.client.receive_to_end().end == lab::End::reset);
  CHECK(rig.has_closed(CloseReason::half_closed_timeout));
}

TEST_CASE("session: timeouts.half_closed does not touch a session that is whole") {
  WorkerRig::Settings settings;
  settings.timeouts.half_closed = 10ms;
  const WorkerRig rig{settings};
  const auto session = rig.open_session();
  CHECK(session.client.receive_some(1, 100ms).end == lab::End::timed_out);
  CHECK(exchange(session));
}

TEST_CASE("session: a slow reader sees every byte before the reset") {
  const WorkerRig rig;
  auto session = rig.open_session();
  const std::string bytes = lab::pattern(8'000'000);
  auto sent = in_background([&] {
    session.server.send_all(bytes);
    session.server.reset();
    return true;
  });
  const std::string first = session.client.receive_exactly(1000).bytes;
  const lab::Received rest = session.client.receive_to_end();
  // A reset throws away what its sender's kernel had not sent: a prefix, then a reset.
  const std::string all = first + rest.bytes;
  CHECK(compare(all, bytes.substr(0, all.size())) == kWhole);
  CHECK(rest.end == lab::End::reset);
}

TEST_CASE("session: a reset reaches a server that has stopped reading, behind what it had been sent") {
  const WorkerRig rig;
  auto session = rig.open_session();
  const std::string bytes = lab::pattern(64'000'000);
  const auto sent = in_background([&] { return session.client.send_all(bytes, 500ms); });
  REQUIRE(eventually([&] { return is_done(sent); }));
  session.client.reset();
  const lab::Received received = session.server.receive_to_end();
  CHECK(received.bytes.size() > 100'000);
  CHECK(compare(received.bytes, bytes.substr(0, received.bytes.size())) == kWhole);
  CHECK(received.end == lab::End::reset);
  CHECK(rig.has_closed(CloseReason::client_reset));
}

TEST_CASE("session: resets from both sides at once end it once") {
  const WorkerRig rig;
  for (int round = 0; round < 50; ++round) {
    auto session = rig.open_session();
    session.client.send_all("a");
    session.server.send_all("b");
    session.client.reset();
    session.server.reset();
  }
  REQUIRE(rig.has_live(0));
  const auto& closed = rig.counters().closed;
  CHECK(closed[static_cast<std::size_t>(CloseReason::client_reset)] +
            closed[static_cast<std::size_t>(CloseReason::server_reset)] ==
        50);
}

TEST_CASE("session: an end from one side and a reset from the other end it once, by a reset") {
  const WorkerRig rig;
  for (int round = 0; round < 50; ++round) {
    auto session = rig.open_session();
    REQUIRE(exchange(session));
    session.server.shutdown_write();
    session.client.reset();
  }
  REQUIRE(rig.has_live(0));
  CHECK(rig.counters().closed[static_cast<std::size_t>(CloseReason::client_reset)] == 50);
}

TEST_CASE("session: a small limit of unsent bytes stalls nothing") {
  for (const std::uint64_t limit : {4096UL, 131'072UL}) {
    WorkerRig::Settings settings;
    settings.client_leg.unsent_limit = Bytes{limit};
    const WorkerRig rig{settings};
    const auto session = rig.open_session();
    const std::string bytes = lab::pattern(5'000'000);
    const auto sent = in_background([&] { return session.server.send_all(bytes); });
    INFO("unsent_limit " << limit);
    CHECK(compare(session.client.receive_exactly(bytes.size()).bytes, bytes) == kWhole);
  }
}

TEST_CASE("session: an urgent byte arrives as one") {
  const WorkerRig rig;
  const auto session = rig.open_session();
  session.client.send_urgent('!');
  REQUIRE(session.server.wait_for_urgent(5s));
  CHECK(session.server.receive_some(1, 5s, MSG_OOB).bytes == "!");
}

}  // namespace headrace
