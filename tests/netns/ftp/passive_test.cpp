// SPDX-License-Identifier: GPL-3.0-or-later
// Passive data connections through tproxy: found by what the control channel says, treated as data_policy
// says.
#include "tests/netns/ftp/ftp.hpp"
#include "tests/test.hpp"

using namespace headrace;
using Catch::Matchers::Contains;

namespace {

DaemonSettings settings() { return with_policies(marked_policies()); }

template <class Server>
void transfer_and_compare(const lab::InlineLab& lab, const Server& server, Client client, Mode mode,
                          const std::string& host) {
  CAPTURE(print(client), host);
  const lab::TempDir here;
  const std::string down = lab::pattern(1'000'000, 3), up = lab::pattern(700'000, 4);
  server.offer("down", down);
  here.write("up", up);
  transfer(lab.client, client, mode, host, here);
  CHECK((lab::read_file(here / "got") == down));
  CHECK((server.received("up") == up));
}

// Of the connections to one server's port that no policy names, what each end sees of the leg to it.
void check_legs(const lab::Capture& at_client, const lab::Capture& at_server, const std::string& client,
                const std::string& server) {
  int data = 0;
  for (const lab::Packet& answer : syns(at_client, server, client)) {
    if (answer.from_port == 21) continue;
    ++data;
    CHECK(answer.mss == kClientMss);
  }
  CHECK(data == 2);
  for (const lab::Packet& syn : syns(at_server, client, server)) {
    if (syn.to_port != 21) CHECK(syn.mss == kServerMss);
  }
}

}  // namespace

TEST_CASE("ftp: passive data connections get the data policy, with vsftpd, by both families") {
  for (const Client client : {Client::curl, Client::lftp, Client::ftplib}) {
    for (const std::string host : {lab::kServer4, lab::kServer6}) {
      const lab::InlineLab lab;
      const Vsftpd server{lab.server};
      const Daemon daemon{lab, settings()};
      const lab::Capture at_client{lab.client, "eth0"}, at_server{lab.server, "eth0"};
      transfer_and_compare(lab, server, client, Mode::passive, host);
      check_legs(at_client, at_server, host == lab::kServer4 ? lab::kClient4 : lab::kClient6, host);
      CHECK(daemon.status()["counters"]["accepted"] == 3);
      CHECK(daemon.logged("policy=data", 2));
      CHECK(expected_elements(lab).empty());
    }
  }
}

TEST_CASE("ftp: passive data connections get the data policy, with pyftpdlib, by both families") {
  for (const Client client : {Client::curl, Client::lftp, Client::ftplib}) {
    for (const std::string host : {lab::kServer4, lab::kServer6}) {
      const lab::InlineLab lab;
      const PythonFtpd server{lab.server, host};
      const Daemon daemon{lab, settings()};
      transfer_and_compare(lab, server, client, Mode::passive, host);
      CHECK(daemon.status()["counters"]["accepted"] == 3);
      CHECK(daemon.logged("policy=data", 2));
    }
  }
}

TEST_CASE("ftp: without data_policy the data connections get the control channel's own policy") {
  const lab::InlineLab lab;
  const Vsftpd server{lab.server};
  const Daemon daemon{lab, with_policies("[[policy]]\nname = \"files\"\nto = [\"any\"]\nports = [21]\n"
                                         "client_leg = \"lan\"\napp = \"ftp\"\n")};
  transfer_and_compare(lab, server, Client::curl, Mode::passive, lab::kServer4);
  CHECK(daemon.logged("policy=files", 3));
}

TEST_CASE("ftp: explain says what the data connections get") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, settings()};
  const std::string text = daemon.command({"explain", "--client", "198.18.1.2", "--to", "198.18.2.2:21"});
  CHECK_THAT(text, Contains("get policy \"data\": passive ones client leg plain+, server leg plain+"));
  const auto json = nlohmann::json::parse(
      daemon.command({"explain", "--json", "--client", "198.18.1.2", "--to", "198.18.2.2:21"}));
  CHECK(json["app"] == "ftp");
  CHECK(json["data_policy"] == "data");
}

TEST_CASE("ftp: with iptables nothing is announced to the packet filter, and transfers go on") {
  const lab::InlineLab lab;
  const Vsftpd server{lab.server};
  DaemonSettings iptables = settings();
  iptables.intercept += "firewall = \"iptables\"\n";
  const Daemon daemon{lab, iptables};
  CHECK(daemon.log().find("a data connection is taken only where a policy names its port") !=
        std::string::npos);
  transfer_and_compare(lab, server, Client::curl, Mode::passive, lab::kServer4);
  CHECK(daemon.status()["counters"]["accepted"] == 1);
}
