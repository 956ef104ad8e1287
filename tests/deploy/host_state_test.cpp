// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/host_state.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "bench/lab/temp_dir.hpp"
#include "deploy/sysctl.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

using Catch::Matchers::Contains;

HostState some_state() {
  HostState state = state_of_this_host();
  state.routes = {{{0x00480000, 0x00ff0000}, 18514, 185, {Family::ipv4, Family::ipv6}}};
  state.originals = {{"net.ipv4.tcp_migrate_req", "0"}, {"net.ipv4.tcp_rmem", "4096\t131072\t6291456"}};
  return state;
}

TEST_CASE("host state: what was written is read back, and only we may write it") {
  const lab::TempDir dir;
  const std::string file = dir / "net.json";
  write_state(file, some_state());
  const auto state = read_state(file);
  REQUIRE(state);
  CHECK(state->originals == some_state().originals);
  CHECK(state->routes == some_state().routes);
  struct stat status {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0600);
  remove_state(file);
  CHECK_FALSE(read_state(file));
  remove_state(file);
}

TEST_CASE("host state: a file that others may write is not believed") {
  const lab::TempDir dir;
  const std::string file = dir / "net.json";
  write_state(file, some_state());
  REQUIRE(::chmod(file.c_str(), 0666) == 0);
  CHECK_THROWS_WITH(read_state(file), Contains("others may write it"));
}

TEST_CASE("host state: a link to a file is not followed") {
  const lab::TempDir dir;
  write_state(dir / "real.json", some_state());
  REQUIRE(::symlink((dir / "real.json").c_str(), (dir / "net.json").c_str()) == 0);
  CHECK_THROWS(read_state(dir / "net.json"));
}

TEST_CASE("host state: half a file or another format is refused, not guessed at") {
  const lab::TempDir dir;
  for (const char* text : {"", "{\"format\": \"headrace-net-1\"", "{\"format\": \"x\"}", "[]"}) {
    dir.write("net.json", text);
    CHECK_THROWS_WITH(read_state(dir / "net.json"), Contains("net.json: "));
  }
}

TEST_CASE("host state: of an earlier boot it says nothing about now") {
  const lab::TempDir dir;
  HostState state = some_state();
  state.boot = "another";
  write_state(dir / "net.json", state);
  CHECK_FALSE(read_state(dir / "net.json"));
}

TEST_CASE("host state: of another network namespace it is refused") {
  const lab::TempDir dir;
  HostState state = some_state();
  state.network_namespace = "1";
  write_state(dir / "net.json", state);
  CHECK_THROWS_WITH(read_state(dir / "net.json"), Contains("another network namespace"));
}

TEST_CASE("sysctl: values are the same whether tabs or spaces separate them") {
  CHECK(same_sysctl_value("4096\t131072\t6291456\n", "4096 131072  6291456"));
  CHECK_FALSE(same_sysctl_value("4096 131072", "4096 131072 6291456"));
}

TEST_CASE("sysctl: a name cannot leave /proc/sys") {
  CHECK_THROWS(read_sysctl("net./..///..//etc.passwd"));
  CHECK_THROWS(read_sysctl(""));
  CHECK_FALSE(read_sysctl("net.ipv4.no_such_setting"));
}

}  // namespace
}  // namespace headrace
