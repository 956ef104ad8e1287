// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/proxy/worker_rig.hpp"

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>

#include "proxy/socket.hpp"
#include "tests/proxy/waiting.hpp"

namespace headrace {
namespace {

const IpAddress kHere = IpAddress::v4({127, 0, 0, 1});

LogSettings silent() {
  LogSettings settings;
  settings.level = LogLevel::off;
  return settings;
}

OpenListener open_listener(const WorkerRig::Settings& settings, const lab::Socket& server) {
  ::signal(SIGPIPE, SIG_IGN);  // as the daemon does: splice() cannot be told not to raise it
  ListenerPlan plan;
  plan.origin = settings.origin;
  plan.at = {kHere, 0};
  plan.treatment = make_treatment("client", settings.client_leg, Side::client);
  if (plan.origin == Origin::forward) {
    plan.forward_to = settings.forward_to.value_or(Endpoint{kHere, server.local_port()});
    Decision decision;
    decision.policy = "test";
    decision.client_leg = plan.treatment;
    decision.server_leg = make_treatment("server", settings.server_leg, Side::server);
    if (settings.ftp) decision.data = data_decisions(decision);
    plan.forward_decision = std::make_shared<const Decision>(decision);
  }
  Result<Fd> socket = listen_at(plan.spec(nullptr), nullptr);
  if (!socket) throw std::runtime_error{print(socket.error())};
  plan.at = local_endpoint(*socket);
  return {plan, std::move(*socket)};
}

}  // namespace

WorkerRig::WorkerRig(const Settings& settings)
    : listener{lab::Socket::listen("127.0.0.1:0")},
      log{silent()},
      admission{settings.limits, nullptr},
      worker{
          1,
          WorkerEnvironment{log, admission, prepared, budget, expected, 8, MarkAndMask{}, nullptr, nullptr},
          WorkerConfiguration{nullptr, settings.timeouts, settings.busy_poll}} {
  OpenListener open = open_listener(settings, listener);
  at = open.plan.at;
  std::vector<OpenListener> listeners;
  listeners.push_back(std::move(open));
  worker.open(std::move(listeners));
}

WorkerRig::~WorkerRig() { worker.stop(); }

WorkerRig::Session WorkerRig::open_session() const {
  lab::Socket client = connect();
  return {std::move(client), listener.accept()};
}

lab::End WorkerRig::end_of_connection() const {
  try {
    return connect().receive_to_end().end;
  } catch (const std::system_error& error) {
    if (error.code().value() == ECONNRESET) return lab::End::reset;
    throw;
  }
}

bool WorkerRig::has_closed(CloseReason reason, std::uint64_t times) const {
  return eventually([&] { return counters().closed[static_cast<std::size_t>(reason)] == times; });
}

bool WorkerRig::has_live(std::uint64_t sessions) const {
  return eventually([&] { return counters().live == sessions; });
}

bool exchange(const WorkerRig::Session& session) {
  session.client.send_all("ping");
  if (session.server.receive_exactly(4).bytes != "ping") return false;
  session.server.send_all("pong");
  return session.client.receive_exactly(4).bytes == "pong";
}

DeafListener::DeafListener()
    : listener_{[] {
        lab::SocketOptions options;
        options.backlog = 0;
        return lab::Socket::listen("127.0.0.1:0", options);
      }()} {
  lab::SocketOptions options;
  options.timeout = 200ms;
  try {
    for (;;) queue_.push_back(lab::Socket::connect(listener_.local(), options));
  } catch (const std::system_error&) {
    // full
  }
}

Endpoint DeafListener::at() const { return {kHere, listener_.local_port()}; }

}  // namespace headrace
