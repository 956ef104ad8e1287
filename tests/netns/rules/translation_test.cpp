// SPDX-License-Identifier: GPL-3.0-or-later
// Destinations that are translated on the way: before us by another host, or by this one.
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;

namespace {

struct Translation {
  std::string ipv4;
  std::string ipv6;
};

// Port 5000 of these addresses becomes the server's.
void translate(const lab::Namespace& where, const std::string& hook, const Translation& from) {
  where.command({"nft", "-f", "-"}, "table inet nat {\n  chain in {\n    type nat hook " + hook +
                                        " priority -100\n    ip daddr " + from.ipv4 +
                                        " tcp dport 5000 dnat ip to 198.18.2.2\n    ip6 daddr " + from.ipv6 +
                                        " tcp dport 5000 dnat ip6 to 2001:db8:2::2\n  }\n}\n");
}

void check_sessions(const lab::InlineLab& lab, const Translation& to) {
  for (const lab::Socket& listener : listen_in_both(lab)) {
    const std::string named = lab::endpoint(listener.local().front() == '[' ? to.ipv6 : to.ipv4, 5000);
    INFO(named);
    auto client = lab::Socket::connect(lab.client, named);
    const Conversation session{std::move(client), listener.accept()};
    CHECK(is_through(lab, session));
    CHECK(session.client.peer() == named);
    CHECK(session.server.peer() == session.client.local());
    CHECK(carries(session.client, session.server, 300'000));
    CHECK(carries(session.server, session.client, 300'000));
  }
}

const Translation kRouted{"198.18.9.9", "2001:db8:9::9"};

DaemonSettings to_server_alone() {
  DaemonSettings settings;
  settings.policies = "[[policy]]\nname = \"real\"\nto = [\"198.18.2.2\", \"2001:db8:2::2\"]\n";
  return settings;
}

}  // namespace

TEST_CASE("rules: a destination that another host has translated is as any") {
  const lab::InlineLab lab;
  translate(lab.client, "output", kRouted);
  const Daemon daemon{lab, to_server_alone()};
  check_sessions(lab, kRouted);
}

// In front of the translation the SYN would be taken and the ACK find nobody (deploy/nft_text.cpp).
TEST_CASE("rules: a destination that this host translates is taken with its real server's address") {
  const lab::InlineLab lab;
  const bool is_ours = GENERATE(false, true);
  const Translation from = is_ours ? Translation{lab::kMiddleWan4, lab::kMiddleWan6} : kRouted;
  translate(lab.middle, "prerouting", from);
  Daemon daemon{lab, to_server_alone()};
  check_sessions(lab, from);
  const auto counters = daemon.status()["counters"];
  CHECK(counters["accepted"] == 2);
  CHECK(counters["other_port"] == 0);
}

TEST_CASE("rules: what this host translates is never redirected, whoever was there first") {
  const lab::InlineLab lab;
  const bool theirs_first = GENERATE(false, true);
  if (theirs_first) translate(lab.middle, "prerouting", kRouted);
  DaemonSettings settings;
  settings.intercept = "mode = \"redirect\"\ninterfaces = [\"wan0\"]\n";
  const Daemon daemon{lab, settings};
  if (!theirs_first) translate(lab.middle, "prerouting", kRouted);
  for (const lab::Socket& listener : listen_in_both(lab)) {
    const bool ipv6 = listener.local().front() == '[';
    auto client = lab::Socket::connect(lab.client, lab::endpoint(ipv6 ? kRouted.ipv6 : kRouted.ipv4, 5000));
    CHECK(speaks({std::move(client), listener.accept()}));
  }
  CHECK(daemon.status()["counters"]["accepted"] == 0);
  const auto plain = converse(lab, lab::Socket::listen(lab.server, lab::endpoint(lab::kServer4, 5001)));
  CHECK(is_through(lab, plain));
}

TEST_CASE("rules: a server behind a translation that fails is left to the kernel") {
  const lab::InlineLab lab;
  translate(lab.middle, "prerouting", kRouted);
  const Daemon daemon{lab};
  const auto end_of_try = [&] {
    const auto attempt = lab::Socket::try_connect(lab.client, lab::endpoint(kRouted.ipv4, 5000));
    return attempt.end == lab::End::done ? attempt.socket.receive_to_end().end : attempt.end;
  };
  CHECK(end_of_try() == lab::End::reset);
  CHECK(end_of_try() == lab::End::refused);
}
