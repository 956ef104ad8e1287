// SPDX-License-Identifier: GPL-3.0-or-later
// ABOR with telnet's interrupt and synch: the urgent mark must reach a server that is busy sending.
#include <cstdlib>

#include "tests/netns/ftp/ftp.hpp"
#include "tests/test.hpp"

using namespace headrace;

namespace {

// Breaks a download off in its middle; prints the seconds until the server had answered, the replies, and
// what the session can still do.
constexpr const char* kAbort = R"(import ftplib, socket, sys, time
ftp = ftplib.FTP(sys.argv[1], timeout=20)
ftp.login()
ftp.set_pasv(sys.argv[2] == 'passive')
ftp.sendcmd('TYPE I')
data = ftp.transfercmd('RETR big')
while not data.recv(65536): pass
began = time.monotonic()
ftp.sock.sendall(b'\xff\xf4')
ftp.sock.sendall(b'\xff\xf2', socket.MSG_OOB)
ftp.sock.sendall(b'ABOR\r\n')
first = ftp.getmultiline()
data.close()
second = ftp.getmultiline()
print('%.3f' % (time.monotonic() - began), first[:3], second[:3], ftp.pwd(), ftp.size('big'))
ftp.quit()
)";

std::string abort_download(const lab::InlineLab& lab, Mode mode) {
  return lab.client.command(
      {"/usr/bin/python3", "-c", kAbort, lab::kServer4, mode == Mode::passive ? "passive" : "active"});
}

void check(const lab::InlineLab& lab, Mode mode) {
  const std::string printed = abort_download(lab, mode);
  CAPTURE(printed);
  CHECK(std::atof(printed.c_str()) < 2);
  CHECK(printed.find(" 426 226 / 200000000\n") != std::string::npos);
}

}  // namespace

TEST_CASE("ftp: ABOR ends a download at once, direct and through headrace, and the session goes on") {
  const lab::InlineLab lab;
  const Vsftpd server{lab.server, "async_abor_enable=YES\n"};
  server.offer("big", std::string(200'000'000, 'b'));
  check(lab, Mode::passive);
  const Daemon daemon{lab, with_policies(marked_policies())};
  for (const Mode mode : {Mode::passive, Mode::active}) check(lab, mode);
  CHECK(daemon.status()["counters"]["accepted"] == 4);
}
