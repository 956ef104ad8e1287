// SPDX-License-Identifier: GPL-3.0-or-later
#include <initializer_list>
#include <utility>

#include "policy/leg_setting.hpp"
#include "policy/policy_table.hpp"
#include "tests/test.hpp"

using namespace headrace;

namespace {

Profile quiet() {  // no setting at all: what a fresh socket does
  Profile profile;
  profile.nodelay = false;
  profile.keepalive = false;
  profile.quickack = QuickAck::off;
  profile.cork = {Cork::Mode::off, Duration{0}};
  return profile;
}

std::string calls(const Profile& profile, Side side, Phase phase, Family family = Family::ipv4) {
  std::string all;
  for (const SocketCall& call : socket_calls(profile, side, phase, family)) {
    all += (all.empty() ? "" : "; ") + print(call);
  }
  return all;
}

// The calls that one setting alone makes on one side, both phases.
std::string calls_of(std::string_view key, const RawValue& value, Side side, Family family = Family::ipv4) {
  Profile profile = quiet();
  REQUIRE(assign(profile, *find_leg_setting(key), value));
  const std::string handshake = calls(profile, side, Phase::handshake, family);
  const std::string connection = calls(profile, side, Phase::connection, family);
  return handshake.empty() ? connection : "handshake: " + handshake + connection;
}

std::string text(const char* value) { return value; }

}  // namespace

TEST_CASE("socket calls: settings left to the kernel make none") {
  for (const Side side : {Side::client, Side::server}) {
    CHECK(calls(quiet(), side, Phase::handshake).empty());
    CHECK(calls(quiet(), side, Phase::connection).empty());
  }
}

TEST_CASE("socket calls: the default profile sets NODELAY and keepalive and leaves the handshake alone") {
  CHECK(calls(Profile{}, Side::client, Phase::handshake).empty());
  CHECK(calls(Profile{}, Side::client, Phase::connection) ==
        "setsockopt(TCP_NODELAY, 1); setsockopt(SO_KEEPALIVE, 1); setsockopt(TCP_KEEPIDLE, 60); "
        "setsockopt(TCP_KEEPINTVL, 10); setsockopt(TCP_KEEPCNT, 6)");
}

TEST_CASE("socket calls: each setting reaches its option in the option's unit") {
  const auto client = [](std::string_view key, const RawValue& value) {
    return calls_of(key, value, Side::client);
  };
  CHECK(client("mss", std::int64_t{1460}) == "handshake: setsockopt(TCP_MAXSEG, 1460)");
  CHECK(client("receive_buffer", text("64KiB")) == "handshake: setsockopt(SO_RCVBUF, 65536)");
  CHECK(client("send_buffer", text("32KiB")) == "handshake: setsockopt(SO_SNDBUF, 32768)");
  CHECK(client("window_clamp", text("16KiB")) == "handshake: setsockopt(TCP_WINDOW_CLAMP, 16384)");
  CHECK(client("congestion", text("cubic")) == "handshake: setsockopt(TCP_CONGESTION, \"cubic\")");
  CHECK(client("unsent_limit", text("128KiB")) == "setsockopt(TCP_NOTSENT_LOWAT, 131072)");
  CHECK(client("rto_min", text("40ms")) == "setsockopt(TCP_RTO_MIN_US, 40000)");
  CHECK(client("rto_max", text("10s")) == "setsockopt(TCP_RTO_MAX_MS, 10000)");
  CHECK(client("delayed_ack_max", text("8ms")) == "setsockopt(TCP_DELACK_MAX_US, 8000)");
  CHECK(client("user_timeout", text("30s")) == "setsockopt(TCP_USER_TIMEOUT, 30000)");
  CHECK(client("user_timeout", text("1500us")) == "setsockopt(TCP_USER_TIMEOUT, 2)");
  CHECK(client("thin_stream", true) == "setsockopt(TCP_THIN_LINEAR_TIMEOUTS, 1)");
  CHECK(client("keepalive_idle", text("90s")).empty());  // keepalive itself is off here
}

TEST_CASE("socket calls: a code point is shifted and has an option of its own in IPv6") {
  CHECK(calls_of("dscp", text("ef"), Side::client) == "handshake: setsockopt(IP_TOS, 184)");
  CHECK(calls_of("dscp", text("ef"), Side::server, Family::ipv6) ==
        "handshake: setsockopt(IPV6_TCLASS, 184)");
  CHECK(calls_of("dscp", text("cs0"), Side::client) == "handshake: setsockopt(IP_TOS, 0)");
}

TEST_CASE("socket calls: fast open is a queue on the listener and a flag before connect") {
  CHECK(calls_of("fast_open", true, Side::client) == "handshake: setsockopt(TCP_FASTOPEN, 256)");
  CHECK(calls_of("fast_open", true, Side::server) == "handshake: setsockopt(TCP_FASTOPEN_CONNECT, 1)");
}

TEST_CASE("socket calls: the server leg's mark is left to the socket, which joins it with its own") {
  CHECK(calls_of("mark", std::int64_t{0x100}, Side::client) == "handshake: setsockopt(SO_MARK, 256)");
  CHECK(calls_of("mark", std::int64_t{0x100}, Side::server).empty());
}

TEST_CASE("socket calls: what the relay or nobody does makes none") {
  CHECK(calls_of("quickack", text("always"), Side::client).empty());
  CHECK(calls_of("cork", text("5ms"), Side::client).empty());
  CHECK(calls_of("initial_window", std::int64_t{60}, Side::client).empty());
  CHECK(calls_of("mss", text("mirror"), Side::server).empty());
}

TEST_CASE("socket calls: a treatment holds the calls of its own side") {
  Profile profile;
  profile.fast_open = true;
  const auto client = make_treatment("test", profile, Side::client);
  const auto server = make_treatment("test", profile, Side::server);
  REQUIRE(client->calls(Family::ipv4).handshake.size() == 1);
  CHECK(client->calls(Family::ipv4).handshake[0].label == "TCP_FASTOPEN");
  CHECK(server->calls(Family::ipv6).handshake[0].label == "TCP_FASTOPEN_CONNECT");
  CHECK(client->calls(Family::ipv6).connection.size() == 5);
}
