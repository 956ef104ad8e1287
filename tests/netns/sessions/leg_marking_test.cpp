// SPDX-License-Identifier: GPL-3.0-or-later
#include <netinet/in.h>
#include <nlohmann/json.hpp>

#include "bench/lab/socket_address.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr int kEf = 46, kCs1 = 8, kAf41 = 34;

// A client whose packets carry a code point from the SYN on.
lab::Socket marked_client(const lab::Namespace& from, const std::string& place, int code_point) {
  const lab::SocketAddress to{place};
  lab::Socket socket{
      from.run([&] { return lab::Handle{::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)}; })};
  const bool v4 = to.family() == AF_INET;
  socket.set_option(v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_TOS : IPV6_TCLASS, code_point << 2);
  lab::checked(::connect(socket.descriptor(), to.get(), to.size()), "connect");
  return socket;
}

// What headrace's packets carried: all the same, or -1.
int carried(const lab::Capture& capture, bool to_client, std::uint16_t port) {
  const auto ours = [=](const lab::Packet& p) {
    return p.protocol == 6 && (to_client ? p.from_port : p.to_port) == port;
  };
  REQUIRE(capture.wait_for_count(3, ours, 10s));  // the handshake's and data
  const auto packets = capture.packets(ours);
  for (const auto& p : packets)
    if (p.dscp != packets.front().dscp) return -1;
  return packets.front().dscp;
}

}  // namespace

TEST_CASE("leg settings: dscp marks its own leg, and preserve carries the client's to the server leg") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_policies(policy(5001, leg("dscp = \"ef\""), "\"plain\"") +
                                         policy(5002, "\"plain\"", leg("dscp = \"cs1\"")) +
                                         policy(5003, "\"plain\"", leg("dscp = 0")))};
  struct Row {
    std::uint16_t port;
    int client_sends, to_client, to_server;
  };
  const Row rows[] = {
      {5001, 0, kEf, 0}, {5001, kAf41, kEf, kAf41}, {5002, kAf41, 0, kCs1}, {5003, kAf41, 0, 0}};
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    for (const Row& row : rows) {
      CAPTURE(address, row.port, row.client_sends);
      const lab::Capture at_client{lab.client, "eth0"};
      const lab::Capture at_server{lab.server, "eth0"};
      const std::string place = lab::endpoint(address, row.port);
      const auto listener = lab::Socket::listen(lab.server, place);
      const auto client = marked_client(lab.client, place, row.client_sends);
      const auto server = listener.accept();
      REQUIRE(client.send_all("ask") == lab::End::done);
      REQUIRE(server.receive_exactly(3).bytes == "ask");
      REQUIRE(server.send_all("answer") == lab::End::done);
      REQUIRE(client.receive_exactly(6).bytes == "answer");
      CHECK(carried(at_client, true, row.port) == row.to_client);
      CHECK(carried(at_server, false, row.port) == row.to_server);
    }
  }
}

namespace {

// Packets counted by each rule of the chain, in order.
std::vector<int> counted(const lab::Namespace& where) {
  std::vector<int> counts;
  const auto json =
      nlohmann::json::parse(where.command({"nft", "-j", "list", "chain", "inet", "seen", "out"}));
  for (const auto& item : json["nftables"]) {
    if (!item.contains("rule")) continue;
    for (const auto& expression : item["rule"]["expr"])
      if (expression.contains("counter")) counts.push_back(expression["counter"]["packets"]);
  }
  return counts;
}

constexpr const char* kCounting = R"(table inet seen { chain out { type filter hook output priority 0;
  oifname "wan0" tcp sport 5001 meta mark & 0xff == 0x11 counter
  oifname "wan0" tcp sport 5001 meta mark & 0xff != 0x11 counter
  oifname "lan0" tcp dport 5001 meta mark & 0xff == 0x22 counter
  oifname "lan0" tcp dport 5001 meta mark & 0xff != 0x22 counter
}
})";

}  // namespace

TEST_CASE("leg settings: mark is on every packet of its own leg") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_policies(policy(5001, leg("mark = 0x11"), leg("mark = 0x22")))};
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    CAPTURE(address);
    lab.middle.command({"nft", "-f", "-"}, kCounting);
    Ends ends = connect_ends(lab, lab::endpoint(address, 5001));
    REQUIRE(ends.client.send_all("ask") == lab::End::done);
    REQUIRE(ends.server.receive_exactly(3).bytes == "ask");
    REQUIRE(ends.server.send_all("answer") == lab::End::done);
    REQUIRE(ends.client.receive_exactly(6).bytes == "answer");
    const auto counts = counted(lab.middle);
    REQUIRE(counts.size() == 4);
    CHECK(counts[0] >= 2);
    CHECK(counts[1] == 0);
    CHECK(counts[2] >= 2);
    CHECK(counts[3] == 0);
    lab.middle.command({"nft", "delete", "table", "inet", "seen"});
  }
}
