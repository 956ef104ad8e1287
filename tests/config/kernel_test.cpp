// SPDX-License-Identifier: GPL-3.0-or-later
// What this kernel cannot do: an error where the user asked for it, a warning where a shipped profile did.
#include "tests/config/loading.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace headrace::testing;
using Catch::Contains;

namespace {

Environment debian_12() {
  Environment environment = new_kernel();
  environment.kernel = {6, 1};
  return environment;
}

}  // namespace

TEST_CASE("kernel: a setting newer than the kernel is a problem where the user wrote it") {
  const std::string text = "[profile.x]\nrto_max = \"10s\"\n";
  const auto problems = problems_of("# none\n", text, debian_12());
  REQUIRE(problems.size() == 1);
  CHECK(problems[0] == "10-test.toml:2:11: rto_max: \"10s\" cannot be had: needs Linux 6.15, this is 6.1");
  CHECK(problems_of("# none\n", text).empty());
  CHECK(problems_of("# none\n", "[profile.x]\nrto_max = \"auto\"\n", debian_12()).empty());
}

TEST_CASE(
    "kernel: congestion control that is not there is a problem for the user's and left out of the shipped") {
  Environment without = new_kernel();
  without.congestion_controls = {"reno", "cubic"};
  const auto problems = problems_of("# none\n", "[profile.x]\ncongestion = \"bbr\"\n", without);
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems[0],
             Contains("the kernel has not loaded it (reno, cubic; or load it first: modprobe tcp_bbr)"));

  const auto configuration = load("# none\n", policy("client_leg = \"wan-lossy\"\n"), without);
  CHECK_FALSE(configuration.profiles.at("wan-lossy").congestion);
  CHECK_THAT(print(configuration.warnings.at(0)),
             Contains("profile \"wan-lossy\": congestion = \"bbr\" is left out"));
}

TEST_CASE("kernel: an unknown list of congestion controls refuses none") {
  Environment unknown = new_kernel();
  unknown.congestion_controls.clear();
  CHECK(problems_of("# none\n", "[profile.x]\ncongestion = \"illinois\"\n", unknown).empty());
}

TEST_CASE("kernel: what a shipped profile loses is told only by whoever uses it") {
  Environment without = new_kernel();
  without.no_leg_storage = "no BPF here";
  const auto mentions = [&](const std::string& policies, const std::string& profile) {
    for (const auto& warning : warnings_of("# none\n", policies, without)) {
      if (warning.find("profile \"" + profile + "\"") != warning.npos) return true;
    }
    return false;
  };
  CHECK(mentions(policy(""), "wan-interactive"));
  CHECK_FALSE(mentions(policy(""), "radio"));
  CHECK(mentions(policy("client_leg = \"radio\"\n"), "radio"));
  CHECK(mentions("[profile.x]\ninherits = \"radio\"\n", "radio"));
  CHECK_FALSE(mentions("# none\n", "wan-interactive"));
}

TEST_CASE("kernel: this host's environment is known") {
  const Environment here = this_environment();
  CHECK(here.kernel >= KernelVersion{3, 0});
  CHECK_FALSE(here.congestion_controls.empty());
  CHECK_FALSE(here.default_congestion.empty());
}

TEST_CASE("kernel: a window that only BPF can set is an error of the user's where there is none") {
  Environment without = new_kernel();
  without.no_leg_storage = "no BPF here";
  const std::string profile = "[profile.x]\ninitial_window = 60\n";
  CHECK(problems_of("# main\n", profile).empty());
  const auto problems = problems_of("# main\n", profile, without);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].find("2:18: initial_window: 60 cannot be had: no BPF here") != std::string::npos);
}

TEST_CASE("kernel: timestamps can't be asked for where the namespace has them off") {
  Environment off = new_kernel();
  off.timestamps = false;
  const std::string profile = "[profile.x]\ntimestamps = true\n";
  CHECK(problems_of("# main\n", profile).empty());
  CHECK(problems_of("# main\n", profile, off).size() == 1);
  CHECK(problems_of("[kernel]\ntimestamps = true\n", profile, off).empty());
}

TEST_CASE("kernel: bursts and the idle restart together are warned of, unless [kernel] turns it off") {
  Environment restarts = new_kernel();
  restarts.slow_start_after_idle = true;
  const auto warned = [&](const std::string& main) {
    for (const std::string& warning : warnings_of(main, policy(""), restarts))
      if (warning.find("tcp_slow_start_after_idle") != std::string::npos) return true;
    return false;
  };
  CHECK(warned("# main\n"));
  CHECK_FALSE(warned("[kernel]\nslow_start_after_idle = false\n"));
}
