// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/socket.hpp"
#include "tests/netns/daemon.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

// Whether a new flow goes through the daemon, by its own count.
bool is_taken(const lab::InlineLab& lab, const Daemon& daemon, const lab::Socket& listener) {
  const auto before = daemon.status()["counters"]["accepted"].get<int>();
  const auto client = lab::Socket::connect(lab.client, lab::endpoint(lab::kServer4, 5000));
  const auto server = listener.accept();
  REQUIRE(client.send_all("question") == lab::End::done);
  REQUIRE(server.receive_exactly(8).bytes == "question");
  return daemon.status()["counters"]["accepted"].get<int>() > before;
}

}  // namespace

TEST_CASE("rules: what somebody flushed is put in again") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  const auto listener = lab::Socket::listen(lab.server, lab::endpoint(lab::kServer4, 5000));
  CHECK(is_taken(lab, daemon, listener));
  lab.middle.command({"nft", "flush", "ruleset"});
  CHECK_FALSE(is_taken(lab, daemon, listener));
  REQUIRE(daemon.logged("they are in again"));
  CHECK(is_taken(lab, daemon, listener));
}

TEST_CASE("rules: without the host's routing rule new flows go direct, and with it they are taken again") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  const auto listener = lab::Socket::listen(lab.server, lab::endpoint(lab::kServer4, 5000));
  lab.middle.command({"ip", "rule", "del", "pref", "185"});
  REQUIRE(daemon.logged("until `headrace net up` has been run again"));
  CHECK_FALSE(is_taken(lab, daemon, listener));
  CHECK(daemon.status()["takes_new_flows"] == false);
  daemon.command({"net", "up"});
  REQUIRE(daemon.logged("the host is prepared again"));
  CHECK(is_taken(lab, daemon, listener));
}

TEST_CASE("rules: a reload that changes the mark is refused and changes nothing") {
  const lab::InlineLab lab;
  const Daemon daemon{lab};
  const auto listener = lab::Socket::listen(lab.server, lab::endpoint(lab::kServer4, 5000));
  std::string text = lab::read_file(daemon.file());
  daemon.directory().write("headrace.toml", text.replace(text.find("[intercept]"), 11,
                                                         "[intercept]\nmark = \"0x00580000/0x00ff0000\""));
  CHECK_THROWS(daemon.command({"reload"}));
  CHECK(is_taken(lab, daemon, listener));
  daemon.directory().write("headrace.toml", text.erase(text.find("mark = "), 30));
}
