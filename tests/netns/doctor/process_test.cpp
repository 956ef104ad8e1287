// SPDX-License-Identifier: GPL-3.0-or-later
// Whose privileges and limits are judged: the daemon's where one runs, else those of who asks.
#include <sys/resource.h>

#include "tests/netns/doctor/patient.hpp"
#include "tests/test.hpp"

using namespace headrace;
using Catch::Matchers::Contains;

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
