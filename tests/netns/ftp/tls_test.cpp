// SPDX-License-Identifier: GPL-3.0-or-later
// A control channel that becomes TLS says nothing more: data connections are left to the kernel.
#include "tests/netns/ftp/ftp.hpp"
#include "tests/test.hpp"

using namespace headrace;

TEST_CASE("ftp: sessions with AUTH TLS work, and their data goes direct") {
  const lab::InlineLab lab;
  const lab::TempDir here;
  const Vsftpd server{lab.server,
                      "ssl_enable=YES\nallow_anon_ssl=YES\nforce_anon_data_ssl=YES\n"
                      "force_anon_logins_ssl=YES\nrequire_ssl_reuse=NO\nssl_ciphers=HIGH\n"
                      "rsa_cert_file=" +
                          Vsftpd::certificate(here) + "\n"};
  const std::string down = lab::pattern(500'000, 3);
  server.offer("down", down);
  const Daemon daemon{lab, with_policies(marked_policies())};
  SECTION("curl") {
    lab.client.command(
        {"curl", "-sS", "--max-time", "30", "--ssl-reqd", "-k", "-o", here / "got", "ftp://198.18.2.2/down"});
  }
  SECTION("lftp") {
    lab.client.command(
        {"lftp", "-c",
         "set net:timeout 20; set net:max-retries 1; set ftp:ssl-force yes; set "
         "ftp:ssl-allow-anonymous yes; set "
         "ftp:ssl-protect-data yes; set ssl:verify-certificate no; open ftp://198.18.2.2 && get down "
         "-o " +
             (here / "got").string()});
  }
  CHECK((lab::read_file(here / "got") == down));
  CHECK(daemon.status()["counters"]["accepted"] == 1);
}
