// SPDX-License-Identifier: GPL-3.0-or-later
// Fast open shows as data in a SYN: the cookie for it came with the SYN-ACK of a connection before.
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "bench/lab/socket_address.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr int kQueue = 16;

lab::Socket fast_listener(const lab::InlineLab& lab, const std::string& place) {
  auto listener = lab::Socket::listen(lab.server, place);
  listener.set_option(IPPROTO_TCP, TCP_FASTOPEN, kQueue);
  return listener;
}

// Connects with `bytes` in the SYN if a cookie is there, after it otherwise.
lab::Socket connect_with(const lab::Namespace& from, const std::string& place, std::string_view bytes) {
  const lab::SocketAddress to{place};
  lab::Handle handle =
      from.run([&] { return lab::Handle{::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)}; });
  lab::checked(
      static_cast<int>(::sendto(handle.get(), bytes.data(), bytes.size(), MSG_FASTOPEN, to.get(), to.size())),
      "sendto");
  return lab::Socket{std::move(handle)};
}

bool syn_with_data(const lab::Capture& capture, std::chrono::nanoseconds timeout = 5s) {
  const auto wanted = [](const lab::Packet& p) { return p.syn && !p.ack && p.payload > 0; };
  return capture.wait_for(wanted, timeout).has_value();
}

void exchange(const lab::Socket& client, const lab::Socket& server) {
  REQUIRE(server.receive_exactly(3).bytes == "ask");
  REQUIRE(server.send_all("answer") == lab::End::done);
  REQUIRE(client.receive_exactly(6).bytes == "answer");
}

void allow_fast_open(const lab::InlineLab& lab) {
  for (const lab::Namespace* where : {&lab.client, &lab.middle, &lab.server})
    where->sysctl("net.ipv4.tcp_fastopen", "3");
}

}  // namespace

TEST_CASE(
    "leg settings: fast_open on the client leg takes data in the client's SYN, and asks the server for "
    "none") {
  const lab::InlineLab lab;
  allow_fast_open(lab);
  const Daemon daemon{lab, with_policies(policy(5001, leg("fast_open = true"), "\"plain\"") +
                                         policy(5002, "\"plain\"", "\"plain\""))};
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    for (const std::uint16_t port : {std::uint16_t{5001}, std::uint16_t{5002}}) {
      CAPTURE(address, port);
      const lab::Capture at_client{lab.client, "eth0"};
      const lab::Capture at_server{lab.server, "eth0"};
      const std::string place = lab::endpoint(address, port);
      const auto listener = fast_listener(lab, place);
      for (int n = 0; n < 2; ++n) {
        const auto client = connect_with(lab.client, place, "ask");
        exchange(client, listener.accept());
      }
      CHECK(syn_with_data(at_client, port == 5001 ? 5s : 0s) == (port == 5001));
      CHECK_FALSE(syn_with_data(at_server, 0s));
      lab.client.ip("tcp_metrics flush");
    }
  }
}

TEST_CASE("leg settings: fast_open on the server leg waits for no client data") {
  const lab::InlineLab lab;
  allow_fast_open(lab);
  const Daemon daemon{lab, with_policies(policy(5001, "\"plain\"", leg("fast_open = true")))};
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    CAPTURE(address);
    const std::string place = lab::endpoint(address, 5001);
    const auto listener = fast_listener(lab, place);
    for (int n = 0; n < 3; ++n) {  // from the second on there is a cookie
      const auto client = lab::Socket::connect(lab.client, place);
      const auto server = listener.accept();
      REQUIRE(server.send_all("banner") == lab::End::done);
      CHECK(client.receive_exactly(6).bytes == "banner");
      REQUIRE(client.send_all("ask") == lab::End::done);
      exchange(client, server);
    }
  }
}

TEST_CASE("leg settings: fast_open on the server leg still shows a refusal as one") {
  const lab::InlineLab lab;
  allow_fast_open(lab);
  const Daemon daemon{lab, with_policies(policy(5001, "\"plain\"", leg("fast_open = true")))};
  const std::string place = lab::endpoint(lab::kServer4, 5001);
  {
    const auto listener = fast_listener(lab, place);
    const auto client = lab::Socket::connect(lab.client, place);
    REQUIRE(client.send_all("ask") == lab::End::done);
    exchange(client, listener.accept());
  }
  CHECK(looks_refused(lab, place, 5s));
  CHECK(daemon.logged("closed=server_refused"));
}

TEST_CASE("leg settings: fast_open on the server leg sends with its SYN what the client's brought") {
  const lab::InlineLab lab;
  allow_fast_open(lab);
  const Daemon daemon{lab, with_policies(policy(5001, leg("fast_open = true"), leg("fast_open = true")))};
  const lab::Capture at_server{lab.server, "eth0"};
  const std::string place = lab::endpoint(lab::kServer4, 5001);
  const auto listener = fast_listener(lab, place);
  for (int n = 0; n < 3; ++n) {
    const auto client = connect_with(lab.client, place, "ask");
    exchange(client, listener.accept());
  }
  CHECK(syn_with_data(at_server));
}
