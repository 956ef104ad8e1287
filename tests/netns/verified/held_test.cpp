// SPDX-License-Identifier: GPL-3.0-or-later
// What becomes of a SYN while it is held, and of its server leg when nobody comes for that.
#include <future>

#include "tests/netns/rules/traffic.hpp"
#include "tests/netns/verified/forged_syn.hpp"
#include "tests/netns/verified/verified.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr int kOpen = 5000, kSilent = 5002;

std::string server_place(int port) { return lab::endpoint(lab::kServer4, port); }

lab::InlineLabSettings far_server(std::chrono::nanoseconds round_trip) {
  lab::InlineLabSettings settings;
  settings.server_link = lab::LinkSettings::round_trip(round_trip, 0, 0);
  return settings;
}

lab::SocketOptions from(const std::string& bind, std::chrono::nanoseconds patience) {
  lab::SocketOptions options;
  options.bind = bind;
  options.timeout = patience;
  return options;
}

// As many at once, each from a port of its own.
std::vector<lab::End> connect_at_once(const lab::InlineLab& lab, const std::string& place, int count,
                                      std::chrono::nanoseconds patience) {
  std::vector<std::future<lab::End>> attempts;
  for (int i = 0; i < count; ++i)
    attempts.push_back(std::async(std::launch::async, [&] { return told(lab, place, patience).end; }));
  std::vector<lab::End> ends;
  for (auto& attempt : attempts) ends.push_back(attempt.get());
  return ends;
}

auto count_of(const std::vector<lab::End>& ends, lab::End wanted) {
  return std::count(ends.begin(), ends.end(), wanted);
}

bool is_to_server(const lab::Packet& packet) { return is_syn(packet) && packet.to_port == kOpen; }

// A SYN whose sender will never answer: nobody has the address.
std::string stranger(int number) { return "198.18.1." + std::to_string(100 + number) + ":4000"; }

}  // namespace

TEST_CASE("held: SYNs that the client sends again are one attempt, and one connection to the server") {
  const lab::InlineLab lab{far_server(1500ms)};
  const Daemon daemon{lab, verified()};
  const auto listener = lab::Socket::listen(lab.server, server_place(kOpen));
  const lab::Capture client_side{lab.client, "eth0"};
  const lab::Capture server_side{lab.middle, "lan0"};
  const auto client = lab::Socket::connect(lab.client, listener.local());
  const auto server = listener.accept();
  CHECK(client_side.wait_for_count(2, is_syn, 5s));
  const auto asked = server_side.packets(is_to_server);
  for (const lab::Packet& packet : asked) CHECK(packet.seq == asked.front().seq);
  CHECK(server.peer() == client.local());
  CHECK(client.send_all("hello") == lab::End::done);
  CHECK(server.receive_exactly(5).bytes == "hello");
  CHECK(syns(daemon, "answered") == 1);
  CHECK_FALSE(listener.try_accept(0ms));
}

TEST_CASE("held: a client that has given up is given up, and its SYN goes nowhere") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, verified()};
  treat(lab.server, kSilent, "drop");
  const lab::Capture server_side{lab.server, "eth0"};
  CHECK(told(lab, server_place(kSilent), 300ms).end == lab::End::timed_out);
  CHECK(syns(daemon, "held") == 1);
  CHECK(eventually([&] { return syns(daemon, "client_gone") == 1; }));
  CHECK(syns(daemon, "held") == 0);
  const auto asked = server_side.packets(is_syn);
  for (const lab::Packet& packet : asked) CHECK(packet.seq == asked.front().seq);  // ours alone
}

TEST_CASE("held: a client that begins anew from the same port is asked for anew") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, verified()};
  treat(lab.server, kSilent, "drop");
  const std::string port = std::string{lab::kClient4} + ":40000";
  lab::Socket::try_connect(lab.client, server_place(kSilent), from(port, 100ms));
  lab::Socket::try_connect(lab.client, server_place(kSilent), from(port, 100ms));
  CHECK(eventually([&] { return syns(daemon, "client_gone") == 1; }));
  CHECK(syns(daemon, "held") == 1);
}

TEST_CASE("held: a time-out of ours hands the client's own SYN to the server") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, verified("[timeouts]\nconnect = \"200ms\"\n")};
  treat(lab.server, kSilent, "drop");
  const lab::Capture client_side{lab.client, "eth0"};
  const lab::Capture server_side{lab.server, "eth0"};
  CHECK(told(lab, server_place(kSilent), 900ms).end == lab::End::timed_out);
  CHECK(eventually([&] { return syns(daemon, "timed_out") == 1; }));
  const auto sent = client_side.wait_for(is_syn, 5s);
  REQUIRE(sent);
  CHECK(server_side.wait_for(
      [&](const lab::Packet& packet) { return is_syn(packet) && packet.seq == sent->seq; }, 5s));
}

TEST_CASE("held: beyond limits.held_syns_per_client a client is accepted early, and others are asked for") {
  const lab::InlineLab lab;
  lab.add_client_address("198.18.1.9");
  const Daemon daemon{lab, verified("[limits]\nheld_syns_per_client = 2\n")};
  treat(lab.server, kSilent, "drop");
  const auto ends = connect_at_once(lab, server_place(kSilent), 3, 900ms);
  CHECK(count_of(ends, lab::End::timed_out) == 2);
  CHECK(count_of(ends, lab::End::done) == 1);
  CHECK(syns(daemon, "over_limit") == 1);
  CHECK(lab::Socket::try_connect(lab.client, server_place(kSilent), from("198.18.1.9:0", 300ms)).end ==
        lab::End::timed_out);
  CHECK(syns(daemon, "over_limit") == 1);
}

TEST_CASE("held: forged SYNs open limits.held_syns connections to the server, and others are served early") {
  constexpr int kMost = 8, kForged = 100;
  const lab::InlineLab lab;
  const Daemon daemon{lab, verified("[limits]\nheld_syns = 8\n")};
  const auto listener = lab::Socket::listen(lab.server, server_place(kOpen));
  const lab::Capture server_side{lab.server, "eth0"};
  for (int i = 0; i < kForged; ++i) send_forged_syn(lab.client, stranger(i), server_place(kOpen));
  REQUIRE(eventually([&] { return syns(daemon, "over_limit") == kForged - kMost; }));
  CHECK(server_side.wait_for_count(kMost, is_to_server, 5s));
  CHECK(server_side.packets(is_to_server).size() == kMost);
  CHECK(syns(daemon, "waiting") == kMost);
  for (int i = 0; i < kMost; ++i) CHECK(listener.accept().peer().starts_with("198.18.1.1"));

  const auto conversation = converse(lab, listener);
  CHECK(speaks(conversation));
  CHECK(is_through(lab, conversation));
  CHECK(syns(daemon, "over_limit") == kForged - kMost + 1);
}

TEST_CASE("held: a server leg that nobody comes for is reset, and its place is free again") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, verified("[limits]\nheld_syns = 1\n")};
  const auto listener = lab::Socket::listen(lab.server, server_place(kOpen));
  send_forged_syn(lab.client, stranger(1), server_place(kOpen));
  const auto server = listener.accept();
  CHECK(syns(daemon, "waiting") == 1);
  CHECK(server.receive_to_end(15s).end == lab::End::reset);
  CHECK(syns(daemon, "unclaimed") == 1);
  CHECK(syns(daemon, "waiting") == 0);
  CHECK(speaks(converse(lab, listener)));
  CHECK(syns(daemon, "answered") == 2);
}

TEST_CASE("held: a server that says something and resets before the client has shaken hands is heard") {
  lab::InlineLabSettings far_client;
  far_client.client_link = lab::LinkSettings::round_trip(200ms, 0, 0);
  const lab::InlineLab lab{far_client};
  const Daemon daemon{lab, verified()};
  const auto listener = lab::Socket::listen(lab.server, server_place(kOpen));
  auto connecting =
      std::async(std::launch::async, [&] { return lab::Socket::connect(lab.client, listener.local()); });
  auto server = listener.accept();
  CHECK(server.send_all("no") == lab::End::done);
  REQUIRE(eventually([&] { return server.unacknowledged() == 0; }));
  server.reset();
  const auto heard = connecting.get().receive_to_end();
  CHECK(heard.bytes == "no");
  CHECK(heard.end == lab::End::reset);
}

TEST_CASE("held: 500 connections at once are all served, byte for byte") {
  constexpr int kThreads = 50, kEach = 10;
  const lab::InlineLab lab;
  const Daemon daemon{lab, verified("[limits]\nheld_syns_per_client = 1000\n")};
  lab::SocketOptions roomy;
  roomy.backlog = 1000;
  const auto listener = lab::Socket::listen(lab.server, server_place(kOpen), roomy);
  std::vector<std::future<std::vector<lab::Socket>>> connecting;
  for (int i = 0; i < kThreads; ++i)
    connecting.push_back(std::async(std::launch::async, [&] {
      std::vector<lab::Socket> sockets;
      for (int j = 0; j < kEach; ++j) sockets.push_back(lab::Socket::connect(lab.client, listener.local()));
      return sockets;
    }));
  std::map<std::string, lab::Socket> clients;
  for (auto& some : connecting)
    for (lab::Socket& socket : some.get()) {
      const std::string local = socket.local();
      clients.emplace(local, std::move(socket));
    }
  for (unsigned i = 0; i < kThreads * kEach; ++i) {
    const auto server = listener.accept();
    const lab::Socket& client = clients.at(server.peer());
    const std::string question = lab::pattern(3000, i), answer = lab::pattern(5000, 1000 + i);
    REQUIRE(client.send_all(question) == lab::End::done);
    REQUIRE(server.receive_exactly(question.size()).bytes == question);
    REQUIRE(server.send_all(answer) == lab::End::done);
    REQUIRE(client.receive_exactly(answer.size()).bytes == answer);
  }
  CHECK(syns(daemon, "answered") == kThreads * kEach);
  CHECK(syns(daemon, "unclaimed") == 0);
}
