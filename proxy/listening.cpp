// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/listening.hpp"

#include <cerrno>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace headrace {
namespace {

// tproxy hands connections to a socket wherever it is bound, so loopback is enough and exposes nothing.
// A redirect needs the address of the interface the packet came in on; the rule set keeps others out.
std::vector<IpAddress> listening_addresses(InterceptMode mode, bool ipv6) {
  const bool loopback = mode == InterceptMode::tproxy;
  std::vector<IpAddress> addresses{loopback ? IpAddress::v4({127, 0, 0, 1}) : IpAddress{}};
  IpAddress::Octets octets{};
  octets[15] = loopback ? 1 : 0;
  if (ipv6) addresses.push_back(IpAddress::v6(octets));
  return addresses;
}

// A first window that can't be had is no reason to serve nobody.
void prepare(const LegStorage& storage, const Profile& profile, const FailedCall& failed) {
  if (storage.expect_listener(profile) || !failed) return;
  const int reason = errno;
  const auto segments = static_cast<int>(profile.initial_receive_window.value_or(Segments{}).count);
  failed({0, 0, "BPF filter", segments, "initial_receive_window"},
         {"the first window announced is the kernel's: bpf", reason});
}

void open_for_all(const ListenerPlan& plan, std::size_t workers, const LegStorage* storage,
                  const FailedCall& failed, Listening& listening) {
  if (storage) prepare(*storage, plan.treatment->settings, failed);
  for (std::size_t i = 0; i < workers; ++i) {
    Result<Fd> socket = listen_at(plan.spec(storage), failed);
    if (!socket) throw std::runtime_error{"listen at " + print(plan.at) + ": " + print(socket.error())};
    listening.per_worker[i].push_back({plan, std::move(*socket)});
  }
}

bool are_free(const std::vector<IpAddress>& addresses, std::uint16_t port, bool transparent) {
  for (const IpAddress& address : addresses)
    if (!is_free({address, port}, transparent)) return false;
  return true;
}

std::uint16_t free_port(const Settings& settings, const std::vector<IpAddress>& addresses,
                        std::set<std::uint16_t>& taken) {
  const PortRange& range = settings.intercept.listener_ports;
  for (std::uint32_t port = range.first; port <= range.last; ++port) {
    const auto candidate = static_cast<std::uint16_t>(port);
    if (taken.contains(candidate)) continue;
    taken.insert(candidate);
    if (are_free(addresses, candidate, settings.intercept.mode == InterceptMode::tproxy)) return candidate;
  }
  throw std::runtime_error{"listen: no port of intercept.listener_ports " + print(range) +
                           " can be had (all in use, or this process lacks CAP_NET_ADMIN)"};
}

// A wildcard listener is reached by every address of this host, and the wildcard means this host as well.
bool leads_to_itself(const ForwardSettings& forward) {
  const Endpoint& listen = forward.listen;
  const Endpoint& to = forward.to;
  if (listen == to) return true;
  if (listen.port != to.port || listen.address.family() != to.address.family()) return false;
  return (listen.address.is_unspecified() || to.address.is_unspecified()) && is_local_address(to.address);
}

std::size_t count_in_state(const char* table, std::string_view wanted) {
  std::ifstream file{table};
  std::string line;
  std::size_t count = 0;
  std::getline(file, line);  // headings
  while (std::getline(file, line)) {
    std::istringstream fields{line};
    std::string slot, local, remote, state;
    fields >> slot >> local >> remote >> state;
    if (state == wanted) ++count;
  }
  return count;
}

// States as net/tcp_states.h numbers them.
std::size_t count_in_both(std::string_view state) {
  return count_in_state("/proc/self/net/tcp", state) + count_in_state("/proc/self/net/tcp6", state);
}

}  // namespace

Listening open_class_listeners(const Settings& settings, const ListenerClasses& classes,
                               const PortsByKey& kept, std::size_t workers, bool ipv6,
                               const LegStorage* storage, const FailedCall& failed) {
  Listening listening;
  listening.per_worker.resize(workers);
  const auto addresses = listening_addresses(settings.intercept.mode, ipv6);
  const Origin origin = origin_of(settings.intercept.mode);
  std::set<std::uint16_t> taken;
  for (const auto& [key, port] : kept) taken.insert(port);
  for (const ListenerClass& group : classes.classes) {
    const auto known = kept.find(group.key);
    const std::uint16_t port = known != kept.end() ? known->second : free_port(settings, addresses, taken);
    listening.ports.push_back(port);
    listening.ports_by_key[group.key] = port;
    const SharedTreatment treatment = make_treatment(group.key, group.handshake, Side::client);
    for (const IpAddress& address : addresses) {
      const ListenerPlan plan{origin, {address, port}, treatment, std::nullopt, nullptr, nullptr};
      listening.places.push_back(plan.at);
      if (known == kept.end()) open_for_all(plan, workers, storage, failed, listening);
    }
  }
  return listening;
}

void open_forward_listeners(const Settings& settings, std::size_t workers, const LegStorage* storage,
                            const FailedCall& failed, Listening& listening) {
  for (const ForwardSettings& forward : settings.forwards) {
    if (leads_to_itself(forward))
      throw std::runtime_error{"forward from " + print(forward.listen) + " to " + print(forward.to) +
                               ": it would forward to itself"};
    if (!is_free(forward.listen, false))
      throw std::runtime_error{"listen at " + print(forward.listen) +
                               ": in use, not an address of this host, or a port that needs privileges"};
    const ListenerPlan plan{Origin::forward,
                            forward.listen,
                            forward.client_leg,
                            forward.to,
                            std::make_shared<const Decision>(decision_of(forward)),
                            nullptr};
    listening.places.push_back(plan.at);
    open_for_all(plan, workers, storage, failed, listening);
  }
}

std::size_t handshakes_in_flight() { return count_in_both("03"); }

std::size_t closings_in_flight() { return count_in_both("04") + count_in_both("09") + count_in_both("0B"); }

}  // namespace headrace
