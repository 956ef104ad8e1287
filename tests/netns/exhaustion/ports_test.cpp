// SPDX-License-Identifier: GPL-3.0-or-later
// Local ports run out where headrace has to choose them. With connect_as = "client" it chooses none.
#include "tests/netns/exhaustion/crowd.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kPorts = 20;

std::vector<Ends> sessions_to(const lab::InlineLab& lab, int port, std::size_t count) {
  std::vector<Ends> sessions;
  while (sessions.size() < count) sessions.push_back(connect_ends(lab, lab::endpoint(lab::kServer4, port)));
  return sessions;
}

std::size_t speaking(const std::vector<Ends>& sessions) {
  std::size_t count = 0;
  for (const Ends& ends : sessions)
    if (ends.client.send_all("word") == lab::End::done && ends.server.receive_exactly(4).bytes == "word")
      ++count;
  return count;
}

// The server first, so that no port of headrace's is left in TIME_WAIT.
void end_in_order(std::vector<Ends> sessions) {
  for (Ends& ends : sessions) {
    ends.server.shutdown_write();
    CHECK(ends.client.receive_to_end().end == lab::End::end_of_stream);
    ends.client.close();
    CHECK(ends.server.receive_to_end().end == lab::End::end_of_stream);
  }
}

}  // namespace

TEST_CASE(
    "ports: each is used once a destination, a session too many is reset and counted, and they come back") {
  const std::string as = GENERATE("proxy", "client-address");
  const lab::InlineLab lab;
  lab.middle.sysctl("net.ipv4.ip_local_port_range", "40000 " + std::to_string(40000 + kPorts - 1));
  DaemonSettings settings;
  settings.policies += "connect_as = \"" + as + "\"\n";
  const Daemon daemon{lab, settings};
  INFO("connect_as = " << as);
  auto sessions = sessions_to(lab, 5001, kPorts);
  const std::size_t baseline = descriptors_of(daemon.pid());
  CHECK(speaking(sessions) == kPorts);
  CHECK(looks_refused(lab, lab::endpoint(lab::kServer4, 5001), 5s));
  CHECK(daemon.logged("closed=connect_failed"));
  CHECK(speaking(sessions_to(lab, 5002, kPorts)) == kPorts);  // the same ports, to another place
  CHECK(speaking(sessions) == kPorts);
  end_in_order(std::move(sessions));
  CHECK(eventually([&] { return daemon.status()["sessions"] == 0; }));
  CHECK(speaking(sessions_to(lab, 5001, kPorts)) == kPorts);
  CHECK(descriptors_of(daemon.pid()) <= baseline + 8);
}
