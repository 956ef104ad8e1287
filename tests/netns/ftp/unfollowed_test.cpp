// SPDX-License-Identifier: GPL-3.0-or-later
// FTP under policies that follow nothing: every connection is one of its own.
#include "tests/netns/ftp/ftp.hpp"
#include "tests/test.hpp"

using namespace headrace;

namespace {

void transfer_both_ways(const lab::InlineLab& lab, const Vsftpd& server, Mode mode) {
  const lab::TempDir here;
  const std::string down = lab::pattern(3'000'000, 3), up = lab::pattern(2'000'000, 4);
  server.offer("down", down);
  here.write("up", up);
  for (const char* host : {lab::kServer4, lab::kServer6}) {
    CAPTURE(host, mode == Mode::active);
    transfer(lab.client, Client::curl, mode, host, here);
    CHECK((lab::read_file(here / "got") == down));
    CHECK((server.received("up") == up));
  }
}

}  // namespace

TEST_CASE("ftp: vsftpd and curl, passive, both families, both directions") {
  const lab::InlineLab lab;
  const Vsftpd server{lab.server};
  const Daemon daemon{lab};
  transfer_both_ways(lab, server, Mode::passive);
  CHECK(daemon.status()["counters"]["accepted"] == 6);  // a control and two data connections each
}

TEST_CASE("ftp: vsftpd and curl, active, whether or not the server's connections are intercepted") {
  for (const bool both : {false, true}) {
    const lab::InlineLab lab;
    const Vsftpd server{lab.server};
    DaemonSettings settings;
    if (both) settings.intercept = "interfaces = [\"wan0\", \"lan0\"]\n";
    const Daemon daemon{lab, settings};
    transfer_both_ways(lab, server, Mode::active);
    const auto counters = daemon.status()["counters"];
    CHECK(counters["accepted"] == (both ? 6 : 2));
    CHECK(counters["other_port"] == 0);  // the data connections kept port 20
  }
}
