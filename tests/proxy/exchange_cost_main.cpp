// SPDX-License-Identifier: GPL-3.0-or-later
// A worker alone in a process, to be looked at from outside: forwards to the port it is told, says where it
// listens, and ends when its last session has.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <future>

#include "proxy/socket.hpp"
#include "proxy/worker.hpp"

namespace {

using namespace headrace;

OpenListener forwarder_to(std::uint16_t port) {
  const IpAddress here = IpAddress::v4({127, 0, 0, 1});
  Decision decision;
  decision.client_leg = make_treatment("plain", Profile{}, Side::client);
  decision.server_leg = make_treatment("plain", Profile{}, Side::server);
  ListenerPlan plan{Origin::forward,
                    {here, 0},
                    decision.client_leg,
                    Endpoint{here, port},
                    std::make_shared<const Decision>(decision),
                    nullptr};
  Result<Fd> socket = listen_at(plan.spec(nullptr), nullptr);
  if (!socket) std::exit(1);
  return {std::move(plan), std::move(*socket)};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  std::signal(SIGPIPE, SIG_IGN);
  Log log{LogSettings{.level = LogLevel::off}};
  Admission admission{{100, 100, 100, Overload::refuse}, nullptr};
  PreparedLegs prepared{admission};
  MemoryBudget budget{64 * 1024 * 1024};
  ExpectedConnections expected;
  std::promise<void> idle;
  Worker worker{1,
                WorkerEnvironment{log, admission, prepared, budget, expected, 8, MarkAndMask{}, nullptr,
                                  [&] { idle.set_value(); }},
                WorkerConfiguration{}};
  std::vector<OpenListener> listeners;
  listeners.push_back(forwarder_to(static_cast<std::uint16_t>(std::atoi(arguments[1]))));
  std::printf("listening at %s.\n", print(local_endpoint(listeners.front().socket)).c_str());
  std::fflush(stdout);
  worker.open(std::move(listeners));
  idle.get_future().wait();
}
