// SPDX-License-Identifier: GPL-3.0-or-later
// A daemon that is started with few descriptors.
#include "tests/netns/exhaustion/crowd.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kClients = 250;
constexpr std::size_t kFits = 135;  // of 600 descriptors (admission_limits)

struct Limited {
  explicit Limited(const lab::InlineLab& lab, const std::string& limits) : files{lab, not_started()} {
    process.emplace(lab.middle, std::vector<std::string>{"prlimit", "--nofile=" + limits, HEADRACE_PROGRAM,
                                                         "run", "-c", files.file()});
    REQUIRE(process->wait_for_output("ready", 20s));
  }
  static DaemonSettings not_started() {
    DaemonSettings settings;
    settings.more = "[limits]\nsessions_per_client = \"100%\"\n";
    settings.start = false;
    return settings;
  }
  Daemon files;
  std::optional<lab::Process> process;
};

}  // namespace

TEST_CASE("descriptors: a low soft limit is raised to the hard one") {
  const lab::InlineLab lab;
  const Limited limited{lab, "256:8192"};
  const auto listener = listen_for_crowd(lab, lab::endpoint(lab::kServer4, 5001));
  const auto clients = connect_at_once(lab, lab::endpoint(lab::kServer4, 5001), kClients);
  const auto servers = accept_all(listener, kClients);
  CHECK(all_speak(clients, servers));
  CHECK(limited.files.status()["sessions"] == kClients);
}

TEST_CASE("descriptors: a low hard limit bounds the sessions, the others go direct, and it recovers") {
  const lab::InlineLab lab;
  const Limited limited{lab, "256:600"};
  const auto listener = listen_for_crowd(lab, lab::endpoint(lab::kServer4, 5001));
  {
    std::vector<lab::Socket> clients, servers;
    while (clients.size() < kClients) {
      if (clients.size() == kFits) CHECK(limited.process->wait_for_output("overload: new flows go", 10s));
      clients.push_back(lab::Socket::connect(lab.client, listener.local()));
      servers.push_back(listener.accept());
    }
    CHECK(all_speak(clients, servers));
    CHECK(limited.files.status()["overload"] == true);
    CHECK(limited.files.status()["sessions"] == kFits);
  }
  CHECK(limited.process->wait_for_output("overload is over", 10s));
  const auto client = lab::Socket::connect(lab.client, listener.local());
  const auto server = listener.accept();
  CHECK(eventually([&] { return limited.files.status()["sessions"] == 1; }));
}
