// SPDX-License-Identifier: GPL-3.0-or-later
// What a control channel may and may not bring about in the packet filter.
#include "tests/netns/ftp/ftp.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

DaemonSettings settings() { return with_policies(marked_policies()); }

std::uint64_t accepted(const Daemon& daemon) { return daemon.status()["counters"]["accepted"]; }

// The server answers PASV by naming a port of its own.
void announce(const Control& control, int port) {
  REQUIRE(control.command("PASV") == "PASV");
  control.reply("227 Entering Passive Mode (" + host_port(lab::kServer4, port) + ").");
}

}  // namespace

TEST_CASE("ftp: an announced place is in the packet filter before the announcement goes on, for a while") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, settings()};
  const Control control{lab};
  announce(control, 40001);
  const std::string passive = expected_elements(lab);
  CHECK_THAT(passive, Contains("198.18.1.2 . 198.18.2.2 . 40001"));
  CHECK_THAT(passive, Contains(" expires "));
  CHECK_THAT(passive, Contains("goto class_"));
  // The next place takes its turn.
  CHECK(control.command("PORT " + host_port(lab::kClient4, 40002)) == "PORT 198,18,1,2,156,66");
  const std::string active = expected_elements(lab);
  CHECK_THAT(active, Contains("198.18.2.2 . 198.18.1.2 . 40002"));
  CHECK_THAT(active, !Contains("40001"));
  control.reply("500 Illegal PORT command.");
  CHECK(expected_elements(lab).empty());
}

TEST_CASE("ftp: IPv6 places are announced too") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, settings()};
  const Control control{lab, lab::kServer6};
  control.command("EPSV");
  control.reply("229 Entering Extended Passive Mode (|||40001|)");
  CHECK_THAT(expected_elements(lab), Contains("2001:db8:1::2 . 2001:db8:2::2 . 40001"));
  control.command("EPRT |2|2001:db8:1::2|40002|");
  CHECK_THAT(expected_elements(lab), Contains("2001:db8:2::2 . 2001:db8:1::2 . 40002"));
}

TEST_CASE("ftp: the places of others, and ports of system services, are announced to nobody") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, settings()};
  const Control control{lab};
  for (const std::string& place : {host_port("198.18.1.9", 40001), host_port("198.18.2.2", 40001),
                                   host_port("127.0.0.1", 40001), host_port(lab::kClient4, 22)}) {
    control.command("PORT " + place);
    control.reply("200 PORT command successful.");
    CHECK(expected_elements(lab).empty());
    control.command("PASV");
    control.reply("227 Entering Passive Mode (" +
                  (place == host_port("198.18.2.2", 40001) ? host_port("198.18.2.9", 40001) : place) + ").");
    CHECK(expected_elements(lab).empty());
  }
  control.reply("227 Entering Passive Mode (" + host_port(lab::kServer4, 40001) + ").");  // nobody asked
  CHECK(expected_elements(lab).empty());
}

TEST_CASE("ftp: what was never to be intercepted stays direct, whatever is announced") {
  const lab::InlineLab lab;
  DaemonSettings never = settings();
  never.intercept += "never = [\"40000-40010\"]\n";
  const Daemon daemon{lab, never};
  const Control control{lab};
  announce(control, 40001);
  CHECK(expected_elements(lab).empty());
}

TEST_CASE("ftp: an announced place is good for one connection of the peer that was told it") {
  const lab::InlineLab lab;
  lab.add_client_address("198.18.1.9");
  const Daemon daemon{lab, settings()};
  const auto listener = lab::Socket::listen(lab.server, "198.18.2.2:40001");
  const Control control{lab};
  announce(control, 40001);
  const auto connect = [&](const std::string& from) {
    lab::SocketOptions options;
    options.bind = from + ":0";
    const auto client = lab::Socket::connect(lab.client, "198.18.2.2:40001", options);
    const auto server = listener.accept();
    CHECK(server.peer() == client.local());
  };
  CHECK(accepted(daemon) == 1);
  connect("198.18.1.9");
  CHECK(accepted(daemon) == 1);
  connect(lab::kClient4);
  CHECK(accepted(daemon) == 2);
  CHECK(expected_elements(lab).empty());
  connect(lab::kClient4);
  CHECK(accepted(daemon) == 2);
}

TEST_CASE("ftp: with its control session goes what it has announced") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, settings()};
  Control control{lab};
  announce(control, 40001);
  CHECK_FALSE(expected_elements(lab).empty());
  control.close();
  CHECK(eventually([&] { return expected_elements(lab).empty(); }));
}

TEST_CASE("ftp: a reload between announcement and connection loses neither, and misleads nobody") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, settings()};
  const auto listener = lab::Socket::listen(lab.server, "198.18.2.2:40001");
  const Control control{lab};
  announce(control, 40001);
  // Another class comes first: the numbers of all that follow change.
  daemon.write_policies(
      "[[policy]]\nname = \"first\"\nto = [\"any\"]\nports = [9]\nclient_leg = { mss = 999 }\n" +
      marked_policies());
  daemon.command({"reload"});
  const lab::Capture at_client{lab.client, "eth0"};
  const auto client = lab::Socket::connect(lab.client, "198.18.2.2:40001");
  const auto server = listener.accept();
  CHECK(accepted(daemon) == 2);
  const auto answers = syns(at_client, lab::kServer4, lab::kClient4);
  REQUIRE(answers.size() == 1);
  CHECK(answers.front().mss == kClientMss);
}

TEST_CASE("ftp: a reload without the followed policy sends what was announced direct") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, settings()};
  const auto listener = lab::Socket::listen(lab.server, "198.18.2.2:40001");
  const Control control{lab};
  announce(control, 40001);
  daemon.write_policies(policy(9, leg("mss = 999"), "\"lan\""));
  daemon.command({"reload"});
  const auto client = lab::Socket::connect(lab.client, "198.18.2.2:40001");
  const auto server = listener.accept();
  CHECK(accepted(daemon) == 1);
}

TEST_CASE("ftp: under a bypass announced connections go direct, the control session goes on") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, settings()};
  const auto listener = lab::Socket::listen(lab.server, "198.18.2.2:40001");
  const Control control{lab};
  daemon.command({"bypass", "on"});
  announce(control, 40001);
  const auto client = lab::Socket::connect(lab.client, "198.18.2.2:40001");
  const auto server = listener.accept();
  CHECK(accepted(daemon) == 1);
  CHECK(control.command("NOOP") == "NOOP");
}
