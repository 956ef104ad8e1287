// SPDX-License-Identifier: GPL-3.0-or-later
// Whose privileges and limits are judged: the daemon's where one runs, else those of who asks.
#include <sys/resource.h>

#include <fstream>

#include "tests/netns/doctor/patient.hpp"
#include "tests/test.hpp"

using namespace headrace;
using Catch::Matchers::Contains;

namespace {

pid_t only_child(pid_t parent) {
  const std::string name = std::to_string(parent);
  std::ifstream children{"/proc/" + name + "/task/" + name + "/children"};
  pid_t child = 0;
  children >> child;
  return child;
}

}  // namespace

TEST_CASE("doctor: the running daemon's descriptors are judged, not this process's") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  CHECK(daemon.status().at("pid") == daemon.pid());
  const rlimit few{300, 300};
  REQUIRE(::prlimit(daemon.pid(), RLIMIT_NOFILE, &few, nullptr) == 0);
  CHECK_THAT(Diagnosis{daemon}.line("descriptors"),
             Contains("warn ") && Contains("300 descriptors (the hard limit of the daemon (pid " +
                                           std::to_string(daemon.pid())));
}

TEST_CASE("doctor: a daemon in a pid namespace of its own is judged, not who has its number here") {
  const lab::InlineLab lab;
  DaemonSettings settings = plain_settings();
  settings.start = false;
  const Daemon files{lab, settings};
  const lab::Process shell{lab.middle,
                           {"unshare", "--pid", "--fork", "--kill-child", "--mount-proc", HEADRACE_PROGRAM,
                            "run", "-c", files.file()}};
  REQUIRE(shell.wait_for_output("ready workers=", std::chrono::seconds{20}));
  CHECK(files.status().at("pid") == 1);
  CHECK_THAT(Diagnosis{files}.line("capabilities"),
             Contains("the daemon (pid " + std::to_string(only_child(shell.pid())) + ")"));
}

TEST_CASE("doctor: a daemon that is not visible from here is not judged, and that is said") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, plain_settings()};
  lab::Process doctor{lab.middle,
                      {"unshare", "--pid", "--fork", "--kill-child", "--mount-proc", HEADRACE_PROGRAM,
                       "doctor", "-c", daemon.file()}};
  doctor.wait(std::chrono::seconds{20});
  CHECK_THAT(doctor.output(), Contains("(the hard limit of this process (the daemon's is not visible"));
}

TEST_CASE("doctor: the running daemon's capabilities are judged, and without one those of who asks") {
  const lab::InlineLab lab;
  Daemon daemon{lab, plain_settings()};
  const auto asked = [&] {
    lab::Process process{lab.middle,
                         {"setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw", HEADRACE_PROGRAM,
                          "doctor", "-c", daemon.file()}};
    process.wait(std::chrono::seconds{10});
    return process.output();
  };
  CHECK_THAT(asked(), Contains("ok   capabilities: the daemon (pid " + std::to_string(daemon.pid()) + ")"));
  daemon.kill();
  CHECK_THAT(asked(), Contains("FAIL capabilities: this process lacks CAP_NET_RAW"));
}
