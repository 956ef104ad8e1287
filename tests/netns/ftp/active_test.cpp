// SPDX-License-Identifier: GPL-3.0-or-later
// Active data connections: the server connects, over an interface where nothing else is intercepted.
#include <filesystem>

#include "tests/netns/ftp/ftp.hpp"
#include "tests/test.hpp"

using namespace headrace;

namespace {

// What a firewall of the old kind lets in: answers, and data from port 20.
void admit_port_20_only(const lab::Namespace& where) {
  where.command({"nft", "-f", "-"},
                "table inet old { chain input {\ntype filter hook input priority 0; policy drop;\n"
                "ct state established accept\ntcp sport 20 accept\nmeta l4proto icmpv6 accept\n}\n}\n");
}

}  // namespace

TEST_CASE("ftp: active data connections get the data policy, legs swapped, and keep port 20") {
  for (const Client client : {Client::curl, Client::lftp, Client::ftplib}) {
    for (const bool v6 : {false, true}) {
      const lab::InlineLab lab;
      const Vsftpd server{lab.server};
      const Daemon daemon{lab, with_policies(marked_policies())};  // of wan0 only
      const std::string at = v6 ? lab::kServer6 : lab::kServer4, from = v6 ? lab::kClient6 : lab::kClient4;
      CAPTURE(print(client), at);
      const lab::TempDir here;
      const std::string down = lab::pattern(1'000'000, 3), up = lab::pattern(700'000, 4);
      server.offer("down", down);
      here.write("up", up);
      const lab::Capture at_client{lab.client, "eth0"}, at_server{lab.server, "eth0"};
      transfer(lab.client, client, Mode::active, at, here);
      CHECK((lab::read_file(here / "got") == down));
      CHECK((server.received("up") == up));
      int data = 0;
      for (const lab::Packet& syn : syns(at_client, at, from)) {
        if (syn.ack) continue;
        ++data;
        CHECK(syn.from_port == 20);
        CHECK(syn.mss == kClientMss);
      }
      CHECK(data == 2);
      for (const lab::Packet& answer : syns(at_server, from, at)) {
        if (answer.ack) CHECK(answer.mss == kServerMss);
      }
      CHECK(daemon.status()["counters"]["accepted"] == 3);
      CHECK(daemon.status()["counters"]["other_port"] == 0);
      CHECK(daemon.logged("policy=data", 2));
      CHECK(expected_elements(lab).empty());
    }
  }
}

TEST_CASE("ftp: active data connections of pyftpdlib get the data policy") {
  const lab::InlineLab lab;
  const PythonFtpd server{lab.server, lab::kServer4};
  const Daemon daemon{lab, with_policies(marked_policies())};
  const lab::TempDir here;
  const std::string down = lab::pattern(1'000'000, 3);
  server.offer("down", down);
  here.write("up", "small");
  transfer(lab.client, Client::ftplib, Mode::active, lab::kServer4, here);
  CHECK((lab::read_file(here / "got") == down));
  CHECK(server.received("up") == "small");
  CHECK(daemon.status()["counters"]["accepted"] == 3);
}

TEST_CASE("ftp: 200 files in a row come from port 20 through a firewall that admits nothing else") {
  const lab::InlineLab lab;
  const Vsftpd server{lab.server};
  const Daemon daemon{lab, with_policies(marked_policies())};
  admit_port_20_only(lab.client);
  for (int n = 0; n < 200; ++n) server.offer("file" + std::to_string(n), "content " + std::to_string(n));
  const lab::TempDir here;
  lab.client.command({"lftp", "-c",
                      "set net:timeout 10; set net:max-retries 1; set ftp:ssl-allow no; set ftp:passive-mode "
                      "off; lcd " +
                          here.path().string() + "; open ftp://198.18.2.2 && mget file*"});
  int whole = 0;
  for (int n = 0; n < 200; ++n)
    whole += lab::read_file(here / ("file" + std::to_string(n))) == "content " + std::to_string(n) ? 1 : 0;
  CHECK(whole == 200);
  const auto counters = daemon.status()["counters"];
  CHECK(counters["accepted"] >= 201);
  CHECK(counters["other_port"] == 0);
}

TEST_CASE(
    "ftp: where the server sees this host, both modes work with one that wants data of its peer alone") {
  const lab::InlineLab lab;
  const Vsftpd server{lab.server};
  const Daemon daemon{lab, with_policies("[[policy]]\nname = \"files\"\nto = [\"any\"]\nports = [21]\n"
                                         "app = \"ftp\"\nconnect_as = \"proxy\"\n")};
  const lab::TempDir here;
  server.offer("down", "what is down");
  here.write("up", "what is up");
  for (const Mode mode : {Mode::passive, Mode::active}) {
    transfer(lab.client, Client::curl, mode, lab::kServer4, here);
    CHECK(lab::read_file(here / "got") == "what is down");
    CHECK(server.received("up") == "what is up");
  }
  CHECK(daemon.logged("policy=files", 6));
}
