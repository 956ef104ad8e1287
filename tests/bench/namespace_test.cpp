// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/namespace.hpp"

#include <net/if.h>

#include <filesystem>
#include <stdexcept>

#include "bench/lab/temp_dir.hpp"
#include "bench/lab/veth.hpp"
#include "tests/test.hpp"

namespace headrace::lab {

TEST_CASE("namespace: it has a name as long as it lives") {
  std::string name;
  {
    const Namespace space("life");
    name = space.name();
    CHECK(std::filesystem::exists("/run/netns/" + name));
  }
  CHECK(!std::filesystem::exists("/run/netns/" + name));
}

TEST_CASE("namespace: entering concerns the call alone, also when it throws") {
  const auto here = [] { return std::filesystem::read_symlink("/proc/thread-self/ns/net"); };
  const Namespace space("enter");
  const auto home = here();
  CHECK(space.run(here) != home);
  CHECK(here() == home);
  CHECK_THROWS_AS(space.run([]() -> int { throw std::runtime_error("inside"); }), std::runtime_error);
  CHECK(here() == home);
}

TEST_CASE("namespace: a command's output comes back, and its complaint when it fails") {
  const Namespace space("command");
  CHECK(space.command({"ip", "-o", "link"}).find("LOOPBACK,UP") != std::string::npos);
  CHECK_THROWS_WITH(space.ip("link set nothing up"), Catch::Contains("nothing"));
  CHECK_THROWS_WITH(space.command({"no-such-program"}), Catch::Contains("cannot start no-such-program"));
}

TEST_CASE("namespace: sysctls are its own") {
  const Namespace space("sysctl");
  const Namespace other("sysctl");
  space.sysctl("net.ipv4.ip_forward", "1");
  CHECK(space.sysctl("net.ipv4.ip_forward") == "1");
  CHECK(other.sysctl("net.ipv4.ip_forward") == "0");
  CHECK_THROWS(space.sysctl("net.ipv4.no_such_key", "1"));
}

TEST_CASE("veth: it joins two namespaces and goes with the object") {
  const Namespace a("veth-a");
  const Namespace b("veth-b");
  {
    const Veth veth({a, "left", {"198.18.7.1/24"}}, {b, "right", {"198.18.7.2/24"}}, {1400, false});
    a.command({"ping", "-c", "1", "-W", "5", "198.18.7.2"});
    CHECK(a.command({"ip", "link", "show", "left"}).find("mtu 1400") != std::string::npos);
  }
  CHECK(a.run([] { return if_nametoindex("left"); }) == 0);
}

TEST_CASE("directory: it goes with all that is in it") {
  std::filesystem::path path;
  {
    const TempDir directory;
    path = directory.path();
    CHECK(read_file(directory.write("deep/er/file", "text")) == "text");
  }
  CHECK(!std::filesystem::exists(path));
}

}  // namespace headrace::lab
