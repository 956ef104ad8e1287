// SPDX-License-Identifier: GPL-3.0-or-later
// This host by every name that it has: what it sends to itself stays its own business, and no name of a
// listener makes it relay. From other hosts: own_addresses_test.cpp, relaying_test.cpp.
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/scopes.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;

namespace {

constexpr int kListenerPort = 18500;

std::vector<std::string> names_of(const lab::InlineLab& lab) {
  lab.middle.ip("addr add fe80::1/64 dev wan0");
  return {"127.0.0.1",
          "127.0.0.2",
          "0.0.0.0",
          lab::kMiddleWan4,
          lab::kMiddleLan4,
          "::1",
          "::",
          lab::kMiddleWan6,
          lab::kMiddleLan6,
          "::ffff:127.0.0.1",
          "::ffff:0.0.0.0",
          "::ffff:198.18.1.1",
          scoped("fe80::1", lab.middle, "wan0")};
}

DaemonSettings everywhere(const std::string& mode) {
  DaemonSettings settings;
  settings.intercept = "mode = \"" + mode + "\"\ninterfaces = [\"wan0\", \"lan0\", \"lo\"]\n";
  return settings;
}

lab::SocketOptions dual_stack() {
  lab::SocketOptions options;
  options.dual_stack = true;
  return options;
}

}  // namespace

TEST_CASE("rules: what this host says to itself is never taken, by whichever name") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, everywhere(GENERATE("tproxy", "redirect"))};
  const auto service = lab::Socket::listen(lab.middle, "[::]:22", dual_stack());
  for (const std::string& name : names_of(lab)) {
    INFO(name);
    const auto client = lab::Socket::connect(lab.middle, lab::endpoint(name, 22), dual_stack());
    const auto server = service.accept();
    CHECK(server.send_all("SSH-2.0") == lab::End::done);
    CHECK(client.receive_exactly(7).bytes == "SSH-2.0");
    CHECK(lab::Socket::try_connect(lab.middle, lab::endpoint(name, 4444), dual_stack()).end ==
          lab::End::refused);
  }
  CHECK(daemon.status()["counters"]["accepted"] == 0);
}

TEST_CASE("rules: no name of this host makes a listener relay for it") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, everywhere(GENERATE("tproxy", "redirect"))};
  for (const std::string& name : names_of(lab)) {
    INFO(name);
    const auto attempt =
        lab::Socket::try_connect(lab.middle, lab::endpoint(name, kListenerPort), dual_stack());
    const auto end = attempt.end == lab::End::done ? attempt.socket.receive_to_end().end : attempt.end;
    CHECK((end == lab::End::refused || end == lab::End::reset));
  }
  CHECK(daemon.status()["counters"]["accepted"] == 0);
}

TEST_CASE("rules: this host's own connections to servers are never taken") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, everywhere(GENERATE("tproxy", "redirect"))};
  for (const lab::Socket& listener : listen_in_both(lab)) {
    INFO(listener.local());
    const auto client = lab::Socket::connect(lab.middle, listener.local());
    const auto server = listener.accept();
    CHECK(client.send_all("question") == lab::End::done);
    CHECK(server.receive_exactly(8).bytes == "question");
    CHECK(server.peer() == client.local());
  }
  CHECK(daemon.status()["counters"]["accepted"] == 0);
}
