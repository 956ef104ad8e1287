// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;

TEST_CASE("rules: this host's own addresses are never taken, from neither side") {
  const lab::InlineLab lab;
  DaemonSettings settings;
  settings.intercept = "interfaces = [\"wan0\", \"lan0\"]\n";
  const Daemon daemon{lab, settings};
  for (const char* address : {lab::kMiddleWan4, lab::kMiddleWan6, lab::kMiddleLan4, lab::kMiddleLan6}) {
    const auto ssh = lab::Socket::listen(lab.middle, lab::endpoint(address, 22));
    for (const lab::Namespace* from : {&lab.client, &lab.server}) {
      INFO(from->name() << " to " << address);
      const auto operator_side = lab::Socket::connect(*from, ssh.local());
      const auto own_side = ssh.accept();
      CHECK(own_side.peer() == operator_side.local());
      CHECK(own_side.send_all("SSH-2.0") == lab::End::done);
      CHECK(operator_side.receive_exactly(7).bytes == "SSH-2.0");
    }
  }
  CHECK(daemon.status()["counters"]["accepted"] == 0);
}

TEST_CASE("rules: a closed port of this host is refused by this host") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  for (const char* address : {lab::kMiddleWan4, lab::kMiddleWan6, lab::kMiddleLan4, lab::kMiddleLan6}) {
    CHECK(lab::Socket::try_connect(lab.client, lab::endpoint(address, 4444)).end == lab::End::refused);
  }
  CHECK(daemon.status()["counters"]["accepted"] == 0);
}
