// SPDX-License-Identifier: GPL-3.0-or-later
#include <future>

#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kLong = 256 << 20;

bool is_cut(lab::End end) { return end == lab::End::reset || end == lab::End::broken_pipe; }

void cut_a_transfer(Daemon& daemon, const lab::Socket& from, const lab::Socket& to) {
  const std::string bytes(kLong, 'x');
  auto sent = std::async(std::launch::async, [&] { return from.send_all(bytes, 20s); });
  REQUIRE(to.receive_exactly(1 << 20).bytes.size() == 1 << 20);
  daemon.kill();
  const auto rest = to.receive_to_end();
  CHECK(rest.end == lab::End::reset);
  CHECK(rest.bytes.size() < kLong - (1 << 20));
  CHECK(is_cut(sent.get()));
}

}  // namespace

TEST_CASE("rules: a killed daemon cuts a transfer and never ends it, to the client and to the server") {
  const lab::InlineLab lab;
  Daemon daemon{lab};
  for (const lab::Socket& listener : listen_in_both(lab)) {
    INFO(listener.local());
    const auto download = converse(lab, listener);
    cut_a_transfer(daemon, download.server, download.client);
    daemon.start();
    const auto upload = converse(lab, listener);
    cut_a_transfer(daemon, upload.client, upload.server);
    daemon.start();
  }
}

TEST_CASE("rules: a killed daemon resets quiet and half-closed sessions at both ends") {
  const lab::InlineLab lab;
  Daemon daemon{lab};
  const auto listeners = listen_in_both(lab);
  std::vector<Conversation> sessions;
  for (const lab::Socket& listener : listeners) {
    sessions.push_back(converse(lab, listener));
    sessions.push_back(converse(lab, listener));
    sessions.back().client.shutdown_write();
    CHECK(sessions.back().server.receive_to_end().end == lab::End::end_of_stream);
  }
  for (const Conversation& session : sessions) REQUIRE(is_through(lab, session));
  daemon.kill();
  for (const Conversation& session : sessions) {
    CHECK(session.client.receive_to_end().end == lab::End::reset);
    CHECK(is_cut(session.server.send_all("anybody there?")));
  }
}
