// SPDX-License-Identifier: GPL-3.0-or-later
#include <future>

#include "tests/netns/ftp/ftp.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

TEST_CASE("ftp: an upload is whole though the server drops its data connection at the next command") {
  lab::InlineLabSettings slow;
  slow.server_link = lab::LinkSettings::round_trip(20ms, 20'000'000, 64 * 1024);
  const lab::InlineLab lab{slow};
  const Daemon daemon{lab, with_policies(marked_policies())};
  const auto listener = lab::Socket::listen(lab.server, "198.18.2.2:40001");
  const Control control{lab};
  control.command("PASV");
  control.reply("227 Entering Passive Mode (" + host_port(lab::kServer4, 40001) + ").");
  auto client = lab::Socket::connect(lab.client, "198.18.2.2:40001");
  auto server = listener.accept();
  control.command("STOR file");
  control.reply("150 go ahead");
  const std::string bytes = lab::pattern(5'000'000, 5);
  auto sent = std::async(std::launch::async, [&] {
    client.send_all(bytes, 30s);
    client.shutdown_write();
  });
  // As servers do it: read to the end, say so, and close when the next command comes, whatever is unread.
  const auto received = server.receive_to_end(30s);
  sent.get();
  CHECK(received.end == lab::End::end_of_stream);
  CHECK((received.bytes == bytes));
  CHECK(control.reply("226 Transfer complete.") == "226 Transfer complete.");
  CHECK(control.command("NOOP") == "NOOP");
  server.close();
  CHECK(client.receive_to_end().end == lab::End::end_of_stream);
}
