// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>
#include <map>
#include <stdexcept>

#include "proxy/commands/commands.hpp"
#include "proxy/commands/leg_storage.hpp"
#include "proxy/privileges.hpp"
#include "proxy/server.hpp"

namespace headrace {
namespace {

SharedTreatment usable_profile(const std::map<std::string, Profile>& profiles, const std::string& name,
                               Side side, Family family) {
  const auto found = profiles.find(name);
  if (found == profiles.end()) {
    std::string names;
    for (const auto& [known, profile] : profiles) names += (names.empty() ? "" : ", ") + known;
    throw std::runtime_error{"unknown profile \"" + name + "\" (" + names + ")"};
  }
  const SharedTreatment wanted = make_treatment(name, found->second, side);
  const auto refused = probe(*wanted, family);
  for (const RefusedCall& one : refused)
    std::fprintf(stderr, "headrace: %s leg: without %s (%s)\n", side == Side::client ? "client" : "server",
                 print(one.call).c_str(), print(one.error).c_str());
  return without(wanted, refused);
}

// Of the profiles in use, what this process can't do of them.
void print_losses(const std::vector<Problem>& losses, const ForwardRequest& request) {
  for (const Problem& loss : losses)
    for (const std::string& name : {request.client_leg, request.server_leg})
      if (loss.text.find('"' + name + '"') != std::string::npos) {
        std::fprintf(stderr, "headrace: %s\n", loss.text.c_str());
        break;
      }
}

std::shared_ptr<const Configuration> configuration_for(const ForwardRequest& request,
                                                       const Environment& environment) {
  auto configuration = std::make_shared<Configuration>();
  std::vector<Problem> losses;
  configuration->profiles = shipped_profiles(environment, losses);
  print_losses(losses, request);
  configuration->policies = std::make_shared<const PolicyTable>();
  Settings& settings = configuration->settings;
  settings.workers = 1;
  settings.intercept.mode = InterceptMode::off;
  // All its sessions may come from one client.
  settings.limits.sessions_per_client = {.is_share = true, .share = 1.0};
  ForwardSettings forward;
  forward.listen = request.listen;
  forward.to = request.to;
  forward.client_leg = usable_profile(configuration->profiles, request.client_leg, Side::client,
                                      request.listen.address.family());
  forward.server_leg =
      usable_profile(configuration->profiles, request.server_leg, Side::server, request.to.address.family());
  if (request.ftp) forward.data = data_decisions(decision_of(forward));
  settings.forwards.push_back(std::move(forward));
  return configuration;
}

void print_summary(const Counters::Snapshot& counters) {
  std::printf("headrace: %llu sessions, %llu exchanges", static_cast<unsigned long long>(counters.accepted),
              static_cast<unsigned long long>(counters.exchanges));
  if (counters.timed_exchanges > 0)
    std::printf(", %.2f round trips each", static_cast<double>(counters.millirounds) / 1000 /
                                               static_cast<double>(counters.timed_exchanges));
  std::printf("; %llu bytes to the server, %llu to the client\n",
              static_cast<unsigned long long>(counters.to_server),
              static_cast<unsigned long long>(counters.to_client));
  for (const CloseReasonInfo& reason : kCloseReasons) {
    const auto count = counters.closed[static_cast<std::size_t>(reason.reason)];
    if (count > 0)
      std::printf("  %llu %s\n", static_cast<unsigned long long>(count), std::string{reason.name}.c_str());
  }
}

}  // namespace

int run_forward(const ForwardRequest& request) {
  Environment environment = this_environment();
  std::unique_ptr<const LegStorage> storage = load_leg_storage(environment);
  auto configuration = configuration_for(request, environment);
  Server server{std::move(configuration), std::move(environment), std::move(storage), {.admin = false}};
  std::fprintf(
      stderr,
      "headrace: the server sees this host's address, not the client's (only `run` with tproxy keeps it)\n");
  server.run();
  print_summary(server.counters());
  return 0;
}

}  // namespace headrace
