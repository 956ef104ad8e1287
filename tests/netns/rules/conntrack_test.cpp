// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;

TEST_CASE("rules: a flow that conntrack does not track goes where its client meant") {
  const lab::InlineLab lab;
  lab.middle.command({"nft", "-f", "-"},
                     "table inet apart { chain before { type filter hook prerouting priority -310;\n"
                     "iifname wan0 meta l4proto tcp notrack\n}\n}\n");
  const Daemon daemon{lab};
  for (const lab::Socket& listener : listen_in_both(lab)) {
    const auto session = converse(lab, listener);
    INFO(listener.local());
    CHECK(speaks(session));
    CHECK(is_through(lab, session));
    CHECK(session.server.peer() == session.client.local());
  }
}
