// SPDX-License-Identifier: GPL-3.0-or-later
// timeouts.idle and control channels, which say nothing while data flows.
#include "tests/netns/ftp/ftp.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

DaemonSettings impatient() { return with_policies(marked_policies(), "[timeouts]\nidle = \"1s\"\n"); }

std::uint64_t idle_closes(const Daemon& daemon) {
  return daemon.status()["counters"]["closed"].value("idle_timeout", std::uint64_t{0});
}

}  // namespace

TEST_CASE("ftp: a transfer of three times timeouts.idle ends with its reply, and the next begins") {
  lab::InlineLabSettings slow;
  slow.client_link = lab::LinkSettings::round_trip(10ms, 20'000'000, 64 * 1024);
  const lab::InlineLab lab{slow};
  const Vsftpd server{lab.server};
  const Daemon daemon{lab, impatient()};
  const lab::TempDir here;
  const std::string down = lab::pattern(8'000'000, 3);
  server.offer("down", down);
  server.offer("small", "small");
  for (const bool active : {false, true}) {
    std::vector<std::string> line{"curl", "-sS", "--max-time", "60"};
    if (active) line.insert(line.end(), {"--ftp-port", "-"});
    line.insert(line.end(),
                {"-o", here / "got", "ftp://198.18.2.2/down", "-o", here / "more", "ftp://198.18.2.2/small"});
    lab.client.command(line);
    CAPTURE(active, daemon.log());
    CHECK((lab::read_file(here / "got") == down));
    CHECK(lab::read_file(here / "more") == "small");
  }
  CHECK(daemon.status()["counters"]["accepted"] == 6);  // each time one control session
  CHECK(idle_closes(daemon) == 0);
}

TEST_CASE("ftp: a control session outlives data that still flows after the server has called it done") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, impatient()};
  const auto listener = lab::Socket::listen(lab.server, "198.18.2.2:40001");
  const Control control{lab};
  control.command("PASV");
  control.reply("227 Entering Passive Mode (" + host_port(lab::kServer4, 40001) + ").");
  const auto client = lab::Socket::connect(lab.client, "198.18.2.2:40001");
  const auto server = listener.accept();
  control.command("RETR file");
  control.reply("150 here it comes");
  control.reply("226 that was it");
  // Two others tell when the time is over: one after the other, each idle from its first moment.
  for (int turn = 0; turn < 2; ++turn) {
    const Control other{lab};
    lab::End end = lab::End::timed_out;
    while (end == lab::End::timed_out) {
      server.send_all("x");
      REQUIRE(client.receive_exactly(1).bytes == "x");
      end = other.client.receive_some(1, 100ms).end;
    }
    CHECK(end == lab::End::reset);
  }
  CHECK(control.command("NOOP") == "NOOP");
  CHECK(control.reply("200 ok") == "200 ok");
  CHECK(idle_closes(daemon) == 2);
}

TEST_CASE("ftp: a control session without a transfer ends like any other that is idle") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, impatient()};
  const Control control{lab};
  control.command("RETR file");
  control.reply("150 here it comes");
  control.reply("426 no");
  CHECK(control.client.receive_to_end(10s).end == lab::End::reset);
  CHECK(idle_closes(daemon) == 1);
}
