// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/proxy/relay_rig.hpp"

#include <sys/epoll.h>

#include <array>
#include <csignal>
#include <stdexcept>

#include "policy/policy_table.hpp"
#include "proxy/socket.hpp"
#include "tests/proxy/waiting.hpp"

namespace headrace {
namespace {

constexpr unsigned kClient = 0;
constexpr unsigned kServer = 1;
constexpr std::chrono::milliseconds kQuiet{30};

// What a leg's peer connects to: with all that a listener of ours sets before the handshake.
Fd open_listener() {
  const ListenerSpec spec{
      {IpAddress::v4({127, 0, 0, 1}), 0}, false, make_treatment("t", Profile{}, Side::client)};
  Result<Fd> listener = listen_at(spec, nullptr);
  if (!listener) throw std::runtime_error{print(listener.error())};
  return std::move(*listener);
}

Fd connect_leg(const lab::Socket& listener) {
  const SharedTreatment treatment = make_treatment("t", Profile{}, Side::server);
  ServerLegSpec spec;
  spec.to = OriginalDestination{{IpAddress::v4({127, 0, 0, 1}), listener.local_port()}};
  spec.treatment = treatment.get();
  Result<ServerLeg> leg = start_connecting(spec, nullptr);
  if (!leg) throw std::runtime_error{print(leg.error())};
  return std::move(leg->socket);
}

Fd accept_leg(const Fd& listener) {
  std::optional<Accepted> accepted;
  eventually([&] {
    Result<Accepted> one = accept_one(listener);
    if (one) accepted.emplace(std::move(*one));
    return accepted.has_value();
  });
  return std::move(accepted.value().socket);
}

Events from_mask(std::uint32_t mask) {
  return {.readable = (mask & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0,
          .writable = (mask & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0,
          .urgent = (mask & EPOLLPRI) != 0,
          .ending = (mask & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0,
          .broken = (mask & (EPOLLHUP | EPOLLERR)) != 0};
}

}  // namespace

struct RelayRig::Connections {
  explicit Connections(const Settings& settings) {
    ::signal(SIGPIPE, SIG_IGN);  // splice() cannot be told not to raise it
    const Fd for_client = open_listener();
    client = lab::Socket::connect(print(local_endpoint(for_client)), settings.client);
    client_leg = accept_leg(for_client);
    const lab::Socket for_server = lab::Socket::listen("127.0.0.1:0", settings.server);
    server_leg = connect_leg(for_server);
    server = for_server.accept();
  }
  lab::Socket client{lab::Handle{}};
  lab::Socket server{lab::Handle{}};
  Fd client_leg;
  Fd server_leg;
};

RelayRig::RelayRig(const Settings& settings) : RelayRig(settings, Connections{settings}) {}

RelayRig::RelayRig(const Settings& settings, Connections connections)
    : settings_{settings},
      budget_{settings.memory},
      epoll_{::epoll_create1(EPOLL_CLOEXEC)},
      client{std::move(connections.client)},
      server{std::move(connections.server)},
      resources{budget_, settings.pipes},
      relay{client_leg, server_leg, settings.to_server, settings.to_client} {
  client_leg.socket = std::move(connections.client_leg);
  server_leg.socket = std::move(connections.server_leg);
  watch(client_leg, kClient);
  watch(server_leg, kServer);
  settle();
}

RelayRig::~RelayRig() { close_legs(); }

void RelayRig::watch(const Leg& leg, unsigned tag) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | static_cast<std::uint32_t>(EPOLLET);
  event.data.u32 = tag;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, leg.socket.get(), &event) != 0)
    throw std::runtime_error{"epoll_ctl"};
}

void RelayRig::turn(std::chrono::milliseconds longest) {
  std::array<epoll_event, 4> events{};
  const int timeout = relay.has_more() ? 0 : static_cast<int>(longest.count());
  const bool more = relay.has_more();
  const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), timeout);
  resources.now = Clock::now();
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    (event.data.u32 == kClient ? client_leg : server_leg).note(from_mask(event.events));
  }
  if (count > 0 || more) {
    ++runs_;
    relay.run(resources);
  }
  if (settings_.ticks && relay.next_deadline() <= resources.now) relay.tick(resources.now);
}

bool RelayRig::run_until(const std::function<bool()>& done, std::chrono::nanoseconds limit) {
  const Instant end = Clock::now() + limit;
  while (!done()) {
    if (Clock::now() > end) return false;
    turn(1ms);
  }
  return true;
}

void RelayRig::settle() {
  std::size_t before = 0;
  do {
    before = runs_;
    turn(kQuiet);
  } while (runs_ != before || relay.has_more());
}

void RelayRig::close_legs() {
  if (std::exchange(closed_, true)) return;
  relay.release(resources);
  client_leg.socket.close();
  server_leg.socket.close();
}

namespace {

std::string carry(RelayRig& rig, const lab::Socket& from, const lab::Socket& to, const std::string& bytes) {
  const auto sent = in_background([&] { return from.send_all(bytes, 20s); });
  auto received = in_background([&] { return to.receive_exactly(bytes.size(), 20s); });
  if (!rig.run_until([&] { return is_done(sent) && is_done(received); })) return {};
  rig.settle();
  return received.get().bytes;
}

}  // namespace

std::string RelayRig::carry_to_server(const std::string& bytes) {
  return carry(*this, client, server, bytes);
}
std::string RelayRig::carry_to_client(const std::string& bytes) {
  return carry(*this, server, client, bytes);
}

}  // namespace headrace
