// SPDX-License-Identifier: GPL-3.0-or-later
// Held SYNs when the daemon is switched off, killed, reloaded, and what the server leg carries over.
#include <csignal>
#include <future>

#include "tests/netns/rules/storm.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/netns/verified/verified.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

lab::InlineLabSettings far_server(std::chrono::nanoseconds round_trip) {
  lab::InlineLabSettings settings;
  settings.server_link = lab::LinkSettings::round_trip(round_trip, 0, 0);
  return settings;
}

std::string accepting(const std::string& how, const std::string& more = "") {
  return "[[policy]]\nname = \"all\"\nto = [\"any\"]\nclient_leg = \"lan\"\nserver_leg = \"lan\"\naccept = "
         "\"" +
         how + "\"\n" + more;
}

std::string rules_of(const lab::InlineLab& lab) {
  return lab.middle.command({"iptables-save"}) + lab.middle.command({"ip6tables-save"}) +
         lab.middle.command({"nft", "list", "ruleset"});
}

// Time enough for a command while a SYN is held.
constexpr auto kFar = 2s;

// A client whose SYN is held, and its server asked, while something happens to the daemon.
struct Underway {
  lab::Capture server_side;
  std::future<Conversation> conversation;

  Underway(const lab::InlineLab& lab, const lab::Socket& listener)
      : server_side{lab.middle, "lan0"}, conversation{std::async(std::launch::async, [&] {
          return converse(lab, listener);
        })} {
    REQUIRE(server_side.wait_for(is_syn, 5s));
  }
};

}  // namespace

TEST_CASE("verified: under bypass new flows go direct, and what was held goes on") {
  const lab::InlineLab lab{far_server(kFar)};
  const Daemon daemon{lab, verified()};
  const auto listeners = listen_in_both(lab);
  for (const lab::Socket& listener : listeners) {
    Underway underway{lab, listener};
    daemon.command({"bypass", "on"});
    const auto conversation = underway.conversation.get();
    CHECK(speaks(conversation));
    CHECK_FALSE(is_through(lab, conversation));
    daemon.command({"bypass", "off"});
  }
  CHECK(syns(daemon, "not_taking") == 2);
  CHECK(is_through(lab, converse(lab, listeners.front())));
}

TEST_CASE("verified: after kill -9 SYNs go direct, and one that was held with its next copy") {
  const lab::InlineLab lab{far_server(kFar)};
  Daemon daemon{lab, verified()};
  const auto listeners = listen_in_both(lab);
  for (const lab::Socket& listener : listeners) {
    Underway underway{lab, listener};
    daemon.kill();
    const auto conversation = underway.conversation.get();
    CHECK(speaks(conversation));
    CHECK_FALSE(is_through(lab, conversation));
    CHECK(speaks(converse(lab, listener)));
    daemon.start();
  }
  CHECK(is_through(lab, converse(lab, listeners.front())));
}

TEST_CASE("verified: a daemon that stops sends on what it holds, and leaves no rule") {
  const lab::InlineLab lab{far_server(kFar)};
  const std::string how = GENERATE(as<std::string>{}, "SIGTERM", "SIGINT");
  const bool by_iptables = GENERATE(false, true);
  CAPTURE(how, by_iptables);
  const std::string log = "[log]\nlevel = \"debug\"\n";
  Daemon daemon{lab, by_iptables ? verified(log, kByIptables) : verified(log)};
  CHECK(rules_of(lab).find("NFQUEUE") != std::string::npos);
  const auto listeners = listen_in_both(lab);
  Underway underway{lab, listeners.front()};
  daemon.signal(how == "SIGTERM" ? SIGTERM : SIGINT);
  const auto conversation = underway.conversation.get();
  CHECK(daemon.logged(": not_taking"));
  CHECK(speaks(conversation));
  CHECK(daemon.wait() == lab::ExitStatus{0, 0});
  CHECK(rules_of(lab).find("HEADRACE") == std::string::npos);
  CHECK(rules_of(lab).find("NFQUEUE") == std::string::npos);
  CHECK(speaks(converse(lab, listeners.front())));
}

TEST_CASE("verified: reloads from early to verified and back lose no connection") {
  const lab::InlineLab lab;
  const bool by_iptables = GENERATE(false, true);
  CAPTURE(by_iptables);
  DaemonSettings settings = by_iptables ? verified("", kByIptables) : verified();
  settings.policies = accepting("early");
  const Daemon daemon{lab, settings};
  CHECK(rules_of(lab).find("NFQUEUE") == std::string::npos);
  const auto listeners = listen_in_both(lab);
  for (int reload = 0; reload < 6; ++reload) {
    const bool to_verified = reload % 2 == 0;
    Storm storm{lab, listeners, 300};
    REQUIRE(storm.wait_for(50));
    daemon.write_policies(accepting(to_verified ? "verified" : "early"));
    daemon.command({"reload"});
    CHECK(storm.trouble() == "");
    const int before = syns(daemon, "answered");
    CHECK(speaks(converse(lab, listeners.front())));
    CHECK(syns(daemon, "answered") == before + (to_verified ? 1 : 0));
  }
  CHECK(daemon.status()["counters"]["accepted"] == 6 * 301);
  CHECK(rules_of(lab).find("NFQUEUE") == std::string::npos);
}

TEST_CASE("verified: the server leg says what the client's SYN says, and comes as the policy says") {
  const lab::InlineLab lab;
  DaemonSettings settings = verified();
  settings.policies =
      "[[policy]]\nname = \"mirror\"\nto = [\"any\"]\nports = [5000]\nclient_leg = \"lan\"\n"
      "server_leg = { mss = \"mirror\" }\naccept = \"verified\"\n" +
      accepting("verified", "connect_as = \"proxy\"\n");
  const Daemon daemon{lab, settings};
  const lab::Capture server_side{lab.middle, "lan0"};
  lab::SocketOptions small;
  small.mss = 900;
  for (const lab::Socket& listener : listen_in_both(lab, 5000)) {
    const auto conversation = converse(lab, listener, small);
    CHECK(conversation.server.peer() == conversation.client.local());
    CHECK(speaks(conversation));
  }
  REQUIRE(server_side.wait_for_count(2, is_syn, 5s));
  const auto asked = server_side.packets(is_syn);
  for (const lab::Packet& syn : asked) CHECK(syn.mss == 900);
  const auto listener = lab::Socket::listen(lab.server, lab::endpoint(lab::kServer4, 5001));
  const auto conversation = converse(lab, listener);
  CHECK(conversation.server.peer().starts_with(lab::kMiddleLan4));
  CHECK(speaks(conversation));
}

TEST_CASE("verified: a client leg with mss = mirror announces what the server announced, each flow its own") {
  const lab::InlineLab lab;
  DaemonSettings settings = verified();
  settings.policies =
      "[[policy]]\nname = \"mirror\"\nto = [\"any\"]\nports = [\"5000-5001\"]\nclient_leg = { mss = "
      "\"mirror\" }\n"
      "accept = \"verified\"\n" +
      accepting("verified");
  const Daemon daemon{lab, settings};
  const auto announced = [&](const char* address, int port, int server_mss) {
    lab::SocketOptions options;
    options.mss = server_mss;
    const auto listener = lab::Socket::listen(lab.server, lab::endpoint(address, port), options);
    const lab::Capture client_side{lab.client, "eth0"};
    const auto conversation = converse(lab, listener);
    CHECK(speaks(conversation));
    CHECK(carries(conversation.client, conversation.server, 100'000));
    return client_side.wait_for(is_syn_ack, 5s)->mss;
  };
  CHECK(announced(lab::kServer4, 5000, 700) == 700);
  CHECK(announced(lab::kServer4, 5001, 900) == 900);
  CHECK(announced(lab::kServer4, 5002, 700) > 1400);  // a policy that does not mirror
  CHECK(announced(lab::kServer6, 5000, 700) > 1400);  // not done in IPv6, with a warning
}

TEST_CASE("verified: a listener that answers with SYN cookies finds its server legs") {
  const lab::InlineLab lab;
  lab.middle.sysctl("net.ipv4.tcp_syncookies", "2");
  const Daemon daemon{lab, verified()};
  for (const lab::Socket& listener : listen_in_both(lab)) {
    const auto conversation = converse(lab, listener);
    CHECK(speaks(conversation));
    CHECK(is_through(lab, conversation));
  }
  CHECK(syns(daemon, "answered") == 2);
  CHECK(syns(daemon, "waiting") == 0);
}

TEST_CASE("verified: a mark that others gave the SYN stays, of what is taken and of what is sent on") {
  const lab::InlineLab lab;
  const bool by_iptables = GENERATE(false, true);
  CAPTURE(by_iptables);
  lab.middle.command(
      {"nft", "-f", "-"},
      "table inet others { chain early { type filter hook prerouting priority -350;\n"
      "iifname wan0 meta mark set 0x5\n}\nchain late { type filter hook postrouting priority 0;\n"
      "tcp flags & (syn|ack) == syn meta mark 0x5 tcp dport 5001 counter\n}\n}\n");
  const Daemon daemon{lab, by_iptables ? verified("", kByIptables) : verified()};
  CHECK(told(lab, lab::endpoint(lab::kServer4, 5001)).end == lab::End::refused);
  CHECK(lab.middle.command({"nft", "list", "chain", "inet", "others", "late"}).find("counter packets 1") !=
        std::string::npos);
  const auto listener = lab::Socket::listen(lab.server, lab::endpoint(lab::kServer4, 5000));
  CHECK(speaks(converse(lab, listener)));
  CHECK(syns(daemon, "answered") == 1);
}

TEST_CASE("verified: explain says that the SYN is held, and check that this kernel can") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, verified()};
  CHECK(daemon.command({"check"}).find("is good") != std::string::npos);
  const std::string story = daemon.command({"explain", "--client", lab::kClient4, "--to", "198.18.2.2:5000"});
  CHECK(story.find("the SYN is held until the server has answered") != std::string::npos);
  CHECK(daemon.command({"net", "show"}).find("18514") != std::string::npos);
  const auto doctor = daemon.try_command({"doctor"}).output;
  CHECK(doctor.find("ok   syn_queue: 0 SYNs are held in packet queue 18514") != std::string::npos);
  CHECK(doctor.find("ok   kernel_rules") != std::string::npos);
}
