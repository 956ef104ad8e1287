// SPDX-License-Identifier: GPL-3.0-or-later
// A followed control channel through a forwarder on loopback: what the worker does with what is announced.
#include <cstdio>

#include "tests/proxy/waiting.hpp"
#include "tests/proxy/worker_rig.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

WorkerRig::Settings followed() {
  WorkerRig::Settings settings;
  settings.ftp = true;
  return settings;
}

std::string read_line(const lab::Socket& from) {
  std::string line;
  while (!line.ends_with('\n')) {
    const auto more = from.receive_some(1);
    if (more.end != lab::End::done) return line + " and then " + lab::to_text(more.end);
    line += more.bytes;
  }
  return line;
}

// The server of a session names a place of its own; which one the client hears.
std::string announce(const WorkerRig::Session& session, const lab::Socket& data) {
  session.client.send_all("EPSV\r\n");
  REQUIRE(read_line(session.server) == "EPSV\r\n");
  session.server.send_all("229 ok (|||" + std::to_string(data.local_port()) + "|)\r\n");
  int port = 0;
  REQUIRE(std::sscanf(read_line(session.client).c_str(), "229 ok (|||%d|)", &port) == 1);
  return "127.0.0.1:" + std::to_string(port);
}

WorkerRig::Session greeted(const WorkerRig& rig) {
  WorkerRig::Session session = rig.open_session();
  session.server.send_all("220 hello\r\n");
  REQUIRE(read_line(session.client) == "220 hello\r\n");
  return session;
}

}  // namespace

TEST_CASE("worker: an announced data connection comes through a port of ours, once") {
  const WorkerRig rig{followed()};
  const auto data = lab::Socket::listen("127.0.0.1:0");
  const auto session = greeted(rig);
  const std::string place = announce(session, data);
  CHECK(place != data.local());
  const auto client = lab::Socket::connect(place);
  const auto server = data.accept();
  client.send_all("ping");
  CHECK(server.receive_exactly(4).bytes == "ping");
  CHECK(rig.has_live(2));
  CHECK_THROWS(lab::Socket::connect(place));
}

TEST_CASE("worker: ports of ours close with the next announcement and with the control session") {
  const WorkerRig rig{followed()};
  const auto data = lab::Socket::listen("127.0.0.1:0");
  greeted(rig);  // its worker has opened what it keeps
  REQUIRE(rig.has_live(0));
  const std::size_t before = open_descriptors();
  {
    auto session = greeted(rig);
    std::string place;
    for (int n = 0; n < 50; ++n) place = announce(session, data);
    CHECK(eventually([&] { return open_descriptors() <= before + 8; }));
    session.client.close();
    session.server.close();
    CHECK(rig.has_live(0));
    CHECK(eventually([&] {
      try {
        lab::Socket::connect(place);
        return false;
      } catch (const std::system_error&) {
        return true;
      }
    }));
  }
  CHECK(eventually([&] { return open_descriptors() <= before; }));
}

TEST_CASE("worker: a hundred sessions announce and transfer at once") {
  const WorkerRig rig{followed()};
  const auto data = lab::Socket::listen("127.0.0.1:0");
  std::vector<WorkerRig::Session> sessions;
  std::vector<std::string> places;
  for (int n = 0; n < 100; ++n) sessions.push_back(greeted(rig));
  for (const auto& session : sessions) places.push_back(announce(session, data));
  for (const std::string& place : places) {
    const auto client = lab::Socket::connect(place);
    const auto server = data.accept();
    client.send_all("ping");
    REQUIRE(server.receive_exactly(4).bytes == "ping");
  }
  CHECK(rig.has_live(100));
}

}  // namespace headrace
