// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/ftp/ftp.hpp"
#include "tests/test.hpp"

using namespace headrace;

namespace {

// All three clients, over IPv4 and IPv6.
void transfer_all(Mode mode) {
  for (const std::string host : {lab::kServer4, lab::kServer6}) {
    const lab::InlineLab lab;
    const Vsftpd server{lab.server};  // which wants data from and to the control channel's peer alone
    DaemonSettings settings = with_policies(marked_policies());
    settings.intercept += "mode = \"redirect\"\n";
    const Daemon daemon{lab, settings};
    const lab::TempDir here;
    const std::string down = lab::pattern(1'000'000, 3), up = lab::pattern(700'000, 4);
    server.offer("down", down);
    here.write("up", up);
    for (const Client client : {Client::curl, Client::lftp, Client::ftplib}) {
      CAPTURE(host, print(client));
      transfer(lab.client, client, mode, host, here);
      CHECK((lab::read_file(here / "got") == down));
      CHECK((server.received("up") == up));
    }
    CHECK(daemon.status()["counters"]["accepted"] == 9);
    CHECK(daemon.logged("policy=data", 6));
    CHECK(expected_elements(lab).empty());
  }
}

}  // namespace

TEST_CASE("ftp: in mode redirect passive data comes from the same host as the control channel") {
  transfer_all(Mode::passive);
}

TEST_CASE("ftp: in mode redirect the server connects to this host, the peer that it knows") {
  transfer_all(Mode::active);
}
