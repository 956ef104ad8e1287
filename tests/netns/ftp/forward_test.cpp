// SPDX-License-Identifier: GPL-3.0-or-later
// A forwarder in front of an FTP server: each end knows this host only, so the places of both become ours.
#include <csignal>
#include <cstdio>

#include "tests/netns/ftp/ftp.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

// Without the server's network beyond: only what comes through headrace gets there.
void no_forwarding(const lab::InlineLab& lab) {
  lab.middle.sysctl("net.ipv4.ip_forward", "0");
  lab.middle.sysctl("net.ipv6.conf.all.forwarding", "0");
}

lab::Process forward(const lab::InlineLab& lab, const std::string& listen, const std::string& to) {
  lab::Process process{lab.middle, {HEADRACE_PROGRAM, "forward", listen, to, "--app", "ftp"}};
  REQUIRE(process.wait_for_output(" ready ", 20s));
  return process;
}

// A control session through a forwarder at port 2121, both ends the test's.
struct Session {
  explicit Session(const lab::InlineLab& lab)
      : listener{lab::Socket::listen(lab.server, "198.18.2.2:21")},
        client{lab::Socket::connect(lab.client, "198.18.1.1:2121")},
        server{listener.accept()} {}
  std::string heard(const std::string& reply, std::size_t length) const {
    server.send_all(reply);
    return client.receive_exactly(length).bytes;
  }
  // What the client hears for a reply, to the end of a line.
  std::string line_for(const std::string& reply) const {
    server.send_all(reply);
    std::string line;
    while (!line.ends_with('\n')) {
      const auto more = client.receive_some(1);
      if (more.end != lab::End::done) return line + " and then " + lab::to_text(more.end);
      line += more.bytes;
    }
    return line;
  }
  void ask(const std::string& command) const {
    client.send_all(command + "\r\n");
    REQUIRE(server.receive_exactly(command.size() + 2).bytes == command + "\r\n");
  }

  lab::Socket listener;
  lab::Socket client;
  lab::Socket server;
};

// Of "229 text (|||port|)".
int port_in(const std::string& reply) {
  const auto at = reply.find("(|||");
  return at == std::string::npos ? 0 : std::atoi(reply.c_str() + at + 4);
}

}  // namespace

TEST_CASE("ftp: data connections come through `headrace forward --app ftp`, in both modes") {
  const lab::InlineLab lab;
  no_forwarding(lab);
  const Vsftpd server{lab.server};
  const lab::TempDir here;
  const std::string down = lab::pattern(1'000'000, 3), up = lab::pattern(700'000, 4);
  server.offer("down", down);
  here.write("up", up);
  struct Way {
    const char *listen, *to, *host;
  };
  for (const Way& way : {Way{"0.0.0.0:2121", "198.18.2.2:21", "198.18.1.1"},
                         Way{"[::]:2121", "[2001:db8:2::2]:21", "2001:db8:1::1"},
                         Way{"[::]:2121", "198.18.2.2:21", "2001:db8:1::1"},
                         Way{"0.0.0.0:2121", "[2001:db8:2::2]:21", "198.18.1.1"}}) {
    CAPTURE(way.listen, way.to);
    lab::Process forwarder = forward(lab, way.listen, way.to);
    // Where the families differ only an extended answer fits both: ftplib asks for one over IPv6 alone.
    std::vector<Client> clients{Client::curl};
    if (way.host[0] == '2' || way.to[0] == '1') clients.push_back(Client::ftplib);
    if (way.host[0] == '2' || way.to[0] == '1') clients.push_back(Client::lftp);
    for (const Client client : clients) {
      for (const Mode mode : {Mode::passive, Mode::active}) {
        CAPTURE(print(client), mode == Mode::active);
        transfer(lab.client, client, mode, way.host, here, 2121);
        CHECK((lab::read_file(here / "got") == down));
        CHECK((server.received("up") == up));
      }
    }
    forwarder.signal(SIGINT);
    REQUIRE(forwarder.wait(10s));
    CHECK_THAT(forwarder.output(), Contains("headrace: " + std::to_string(6 * clients.size()) + " sessions"));
  }
}

TEST_CASE("ftp: a forwarder of the daemon gives its data connections the policy that it names") {
  const lab::InlineLab lab;
  no_forwarding(lab);
  const Vsftpd server{lab.server};
  DaemonSettings settings = with_policies(marked_policies(),
                                          "[[forward]]\nlisten = \"0.0.0.0:2121\"\nto = "
                                          "\"198.18.2.2:21\"\napp = \"ftp\"\ndata_policy = \"data\"\n");
  const Daemon daemon{lab, settings};
  const lab::TempDir here;
  server.offer("down", "what is down");
  here.write("up", "what is up");
  const lab::Capture at_client{lab.client, "eth0"}, at_server{lab.server, "eth0"};
  transfer(lab.client, Client::curl, Mode::passive, "198.18.1.1", here, 2121);
  CHECK(lab::read_file(here / "got") == "what is down");
  CHECK(server.received("up") == "what is up");
  for (const lab::Packet& answer : syns(at_client, "198.18.1.1", lab::kClient4))
    if (answer.from_port != 2121) CHECK(answer.mss == kClientMss);
  for (const lab::Packet& syn : syns(at_server, "198.18.2.1", lab::kServer4))
    if (syn.to_port != 21) CHECK(syn.mss == kServerMss);
  CHECK(daemon.logged("policy=data", 2));
}

TEST_CASE("ftp: a forwarder's answer is ours in whatever pieces the server's comes") {
  const lab::InlineLab lab;
  lab::Process forwarder = forward(lab, "0.0.0.0:2121", "198.18.2.2:21");
  const Session session{lab};
  CHECK(session.line_for("220 hello\r\n") == "220 hello\r\n");
  CHECK(session.heard("220", 3) == "220");  // nobody waits for a place: nothing is held back
  CHECK(session.line_for(" again\r\n") == " again\r\n");
  const auto listener = lab::Socket::listen(lab.server, "198.18.2.2:40001");
  session.ask("PASV");
  session.server.send_all("227 Entering Passive");
  session.server.send_all(" Mode (198,18,2,");
  const std::string ours = session.line_for("2,156,65).\r\n");
  CHECK_THAT(ours, Catch::Matchers::StartsWith("227 Entering Passive Mode (198,18,1,1,"));
  CHECK_THAT(ours, Catch::Matchers::EndsWith(").\r\n"));
  session.ask("EPSV");
  const int port = port_in(session.line_for("229 Entering Extended Passive Mode (|||40001|)\r\n"));
  const auto client = lab::Socket::connect(lab.client, "198.18.1.1:" + std::to_string(port));
  const auto server = listener.accept();
  client.send_all("data");
  CHECK(server.receive_exactly(4).bytes == "data");
}

TEST_CASE("ftp: a forwarder's place is for one connection of its client, and nobody else's") {
  const lab::InlineLab lab;
  lab.add_client_address("198.18.1.9");
  lab::Process forwarder = forward(lab, "0.0.0.0:2121", "198.18.2.2:21");
  const Session session{lab};
  const auto listener = lab::Socket::listen(lab.server, "198.18.2.2:40001");
  session.line_for("220 hello\r\n");
  session.ask("EPSV");
  const std::string place =
      "198.18.1.1:" + std::to_string(port_in(session.line_for("229 ok (|||40001|)\r\n")));
  lab::SocketOptions stranger;
  stranger.bind = "198.18.1.9:0";
  const auto other = lab::Socket::try_connect(lab.client, place, stranger);
  if (other.end == lab::End::done) CHECK(other.socket.receive_to_end().end == lab::End::reset);
  const auto client = lab::Socket::connect(lab.client, place);
  const auto server = listener.accept();
  CHECK(eventually([&] { return lab::Socket::try_connect(lab.client, place).end == lab::End::refused; }));
  client.send_all("data");
  CHECK(server.receive_exactly(4).bytes == "data");
}

TEST_CASE("ftp: the server behind a forwarder hears a place of ours, and the client sees whom it knows") {
  const lab::InlineLab lab;
  lab::Process forwarder = forward(lab, "0.0.0.0:2121", "198.18.2.2:21");
  const Session session{lab};
  session.line_for("220 hello\r\n");
  const auto listener = lab::Socket::listen(lab.client, "198.18.1.2:40002");
  session.client.send_all("PO");
  session.client.send_all("RT 198,18,1,2,156,66\r\nNOOP\r\n");
  std::string heard;
  while (!heard.ends_with("NOOP\r\n")) heard += session.server.receive_some(1).bytes;
  CHECK_THAT(heard, Catch::Matchers::StartsWith("PORT 198,18,2,1,"));
  int high = 0, low = 0;
  REQUIRE(std::sscanf(heard.c_str(), "PORT 198,18,2,1,%d,%d\r\nNOOP", &high, &low) == 2);
  const std::string place = "198.18.2.1:" + std::to_string(high * 256 + low);
  const auto server = lab::Socket::connect(lab.server, place);
  const auto client = listener.accept();
  CHECK_THAT(client.peer(), Catch::Matchers::StartsWith("198.18.1.1:"));
  server.send_all("data");
  CHECK(client.receive_exactly(4).bytes == "data");
  CHECK(eventually([&] { return lab::Socket::try_connect(lab.server, place).end == lab::End::refused; }));
}

TEST_CASE("ftp: a forwarder leaves a place that is not the server's as it is") {
  const lab::InlineLab lab;
  lab::Process forwarder = forward(lab, "0.0.0.0:2121", "198.18.2.2:21");
  const Session session{lab};
  session.line_for("220 hello\r\n");
  for (const std::string reply : {"227 ok (198,18,2,9,156,65)\r\n", "227 ok (198,18,2,2,0,22)\r\n"}) {
    session.ask("PASV");
    CHECK(session.line_for(reply) == reply);
  }
}

TEST_CASE("ftp: what a forwarder holds of an answer arrives when the server ends in its middle") {
  const lab::InlineLab lab;
  lab::Process forwarder = forward(lab, "0.0.0.0:2121", "198.18.2.2:21");
  Session session{lab};
  session.line_for("220 hello\r\n");
  session.ask("PASV");
  session.server.send_all("227 Entering Pas");
  session.server.close();
  const auto rest = session.client.receive_to_end();
  CHECK(rest.bytes == "227 Entering Pas");
  CHECK(rest.end == lab::End::end_of_stream);
}
