// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

const char* const kStrict = R"(table inet strict {
  counter invalid { }
  chain in { type filter hook input priority filter; ct state invalid counter name invalid drop; }
  chain through { type filter hook forward priority filter; ct state invalid counter name invalid drop; }
}
)";

bool counted_nothing(const lab::InlineLab& lab) {
  const auto text = lab.middle.command({"nft", "list", "counter", "inet", "strict", "invalid"});
  UNSCOPED_INFO(text);
  return text.find("packets 0 bytes 0") != std::string::npos;
}

}  // namespace

TEST_CASE("rules: sessions live through a firewall that drops what conntrack calls invalid") {
  lab::InlineLabSettings settings;  // ends that number their segments independently, as two hosts do
  settings.client_link.emplace();
  settings.server_link.emplace();
  const lab::InlineLab lab{settings};
  lab.middle.command({"nft", "-f", "-"}, kStrict);
  const auto listeners = listen_in_both(lab);
  const auto direct = converse(lab, listeners.front());
  DaemonSettings chosen;
  chosen.intercept += GENERATE("", "firewall = \"iptables\"\n");
  Daemon daemon{lab, chosen};
  for (const lab::Socket& listener : listeners) {
    INFO(listener.local());
    auto session = converse(lab, listener);
    CHECK(is_through(lab, session));
    CHECK(carries(session.client, session.server, 300'000));
    CHECK(carries(session.server, session.client, 300'000));
    CHECK(counted_nothing(lab));
    session.client.shutdown_write();
    CHECK(session.server.receive_to_end().end == lab::End::end_of_stream);
    session.server.close();
    CHECK(session.client.receive_to_end().end == lab::End::end_of_stream);
  }
  CHECK(daemon.logged("closed=client_fin", 2));
  CHECK(speaks(direct));
  CHECK(counted_nothing(lab));
}

TEST_CASE("rules: a reset passes a firewall that drops what conntrack calls invalid") {
  lab::InlineLabSettings settings;
  settings.client_link.emplace();
  settings.server_link.emplace();
  const lab::InlineLab lab{settings};
  lab.middle.command({"nft", "-f", "-"}, kStrict);
  DaemonSettings chosen;
  chosen.intercept += GENERATE("", "firewall = \"iptables\"\n");
  const Daemon daemon{lab, chosen};
  for (const lab::Socket& listener : listen_in_both(lab)) {
    INFO(listener.local());
    auto by_client = converse(lab, listener);
    CHECK(speaks(by_client));
    by_client.client.reset();
    CHECK(by_client.server.receive_to_end().end == lab::End::reset);
    auto by_server = converse(lab, listener);
    CHECK(speaks(by_server));
    by_server.server.reset();
    CHECK(by_server.client.receive_to_end().end == lab::End::reset);
  }
  CHECK(counted_nothing(lab));
}
