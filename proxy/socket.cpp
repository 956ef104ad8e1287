// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/socket.hpp"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace headrace {
namespace {

// Of a server leg, roughly: its list is made once a connection.
constexpr std::size_t kMostCalls = 24;
// SO_ORIGINAL_DST and IP6T_SO_ORIGINAL_DST; their headers (linux/netfilter_ipv*) clash with netinet/in.h.
constexpr int kOriginalDestination = 80;
// A send buffer is not enlarged beyond this: twice the usual net.core.wmem_max, so that a process that may
// not pass that never shrinks one instead.
constexpr int kLargestSendBuffer = 400 * 1024;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_storage);
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

SocketAddress to_kernel(const Endpoint& endpoint) {
  SocketAddress out;
  const auto& octets = endpoint.address.octets();
  if (endpoint.address.is_v4()) {
    auto& in = reinterpret_cast<sockaddr_in&>(out.storage);
    in.sin_family = AF_INET;
    in.sin_port = htons(endpoint.port);
    std::memcpy(&in.sin_addr, octets.data(), 4);
    out.length = sizeof in;
  } else {
    auto& in6 = reinterpret_cast<sockaddr_in6&>(out.storage);
    in6.sin6_family = AF_INET6;
    in6.sin6_port = htons(endpoint.port);
    in6.sin6_scope_id = endpoint.scope;
    std::memcpy(&in6.sin6_addr, octets.data(), 16);
    out.length = sizeof in6;
  }
  return out;
}

Endpoint from_kernel(const SocketAddress& address) {
  if (address.storage.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address.storage);
    std::array<std::uint8_t, 4> octets{};
    std::memcpy(octets.data(), &in.sin_addr, 4);
    return {IpAddress::v4(octets), ntohs(in.sin_port)};
  }
  if (address.storage.ss_family == AF_INET6) {
    const auto& in6 = reinterpret_cast<const sockaddr_in6&>(address.storage);
    IpAddress::Octets octets{};
    std::memcpy(octets.data(), &in6.sin6_addr, 16);
    return {IpAddress::v6(octets), ntohs(in6.sin6_port), in6.sin6_scope_id};
  }
  return {};
}

SystemError failure(std::string_view attempt) { return {attempt, errno}; }

int domain_of(Family family) { return family == Family::ipv4 ? AF_INET : AF_INET6; }

Result<Fd> new_socket(Family family) {
  Fd socket{::socket(domain_of(family), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!socket) return failure("socket");
  return socket;
}

bool make(const Fd& socket, const SocketCall& call) {
  if (call.level == SOL_SOCKET && call.name == SO_LINGER) {
    const linger cut{1, 0};
    return ::setsockopt(socket.get(), call.level, call.name, &cut, sizeof cut) == 0;
  }
  if (const int* number = std::get_if<int>(&call.value))
    return ::setsockopt(socket.get(), call.level, call.name, number, sizeof *number) == 0;
  const auto& text = std::get<std::string>(call.value);
  return ::setsockopt(socket.get(), call.level, call.name, text.data(),
                      static_cast<socklen_t>(text.size())) == 0;
}

void set_flag(const Fd& socket, int level, int name, int value) {
  ::setsockopt(socket.get(), level, name, &value, sizeof value);
}

SocketCall flag(int level, int name, std::string_view label, int value = 1) {
  return {level, name, label, value, {}};
}

// What every leg carries from its first moment. Linger 0: should this process die, the kernel cuts the
// connection instead of ending it, so that half a transfer never looks whole (measured with kill -9).
// Urgent bytes stay in the stream, or a plain recv would lose them.
void add_leg_basics(std::vector<SocketCall>& calls) {
  calls.push_back(flag(SOL_SOCKET, SO_LINGER, "SO_LINGER {on, 0 s}"));
  calls.push_back(flag(SOL_SOCKET, SO_OOBINLINE, "SO_OOBINLINE"));
}

void add_transparent(std::vector<SocketCall>& calls, Family family) {
  if (family == Family::ipv4)
    calls.push_back(flag(IPPROTO_IP, IP_TRANSPARENT, "IP_TRANSPARENT"));
  else
    calls.push_back(flag(IPPROTO_IPV6, IPV6_TRANSPARENT, "IPV6_TRANSPARENT"));
}

SocketCall dscp_call(Family family, Dscp dscp) {
  const int field = dscp.code_point << 2;
  if (family == Family::ipv4) return {IPPROTO_IP, IP_TOS, "IP_TOS", field, "dscp"};
  return {IPPROTO_IPV6, IPV6_TCLASS, "IPV6_TCLASS", field, "dscp"};
}

std::size_t queued(const Fd& socket, unsigned long request) {
  int bytes = 0;
  if (::ioctl(socket.get(), request, &bytes) != 0 || bytes < 0) return 0;
  return static_cast<std::size_t>(bytes);
}

void append(std::vector<SocketCall>& calls, const std::vector<SocketCall>& more) {
  calls.insert(calls.end(), more.begin(), more.end());
}

// What every listener carries for those it will accept: what a profile asks for that says nothing of its own.
// Constant, so that a reload never finds a listener with another policy's settings. Five calls less a
// connection (bench/run lan --row connections).
const std::vector<SocketCall>& inherited_calls(Family family) {
  static const auto kIpv4 = socket_calls({}, Side::client, Phase::connection, Family::ipv4);
  static const auto kIpv6 = socket_calls({}, Side::client, Phase::connection, Family::ipv6);
  return family == Family::ipv4 ? kIpv4 : kIpv6;
}

bool is_same_option(const SocketCall& one, const SocketCall& other) {
  return one.level == other.level && one.name == other.name;
}

// A profile makes no call for a flag that is off; where the flag is inherited, it must. What else may be
// inherited has no effect without its flag (keepalive's times).
bool must_be_undone(const SocketCall& inherited, const std::vector<SocketCall>& wanted) {
  const auto sets = [&](const SocketCall& call) { return is_same_option(call, inherited); };
  if (std::any_of(wanted.begin(), wanted.end(), sets)) return false;
  return std::holds_alternative<bool Profile::*>(find_leg_setting(inherited.key)->field);
}

// Calls with no key are ours and must succeed; calls that a setting asked for are told and left out.
std::optional<SystemError> make_all(const Fd& socket, std::span<const SocketCall> calls,
                                    const FailedCall& failed) {
  for (const SocketCall& call : calls) {
    if (make(socket, call)) continue;
    if (call.key.empty()) return failure(call.label);
    if (failed) failed(call, failure("setsockopt"));
  }
  return std::nullopt;
}

int number_of(const Fd& socket, int level, int name) {
  int value = 0;
  socklen_t length = sizeof value;
  return ::getsockopt(socket.get(), level, name, &value, &length) == 0 ? value : 0;
}

// The kernel counts what a buffer costs, up to twice what is in it, and doubles the number that it is told.
// Setting it ends autotuning; SO_BUF_LOCK (since 5.14) says whether it had ended before.
void enlarge_send_buffer(const Fd& socket, std::size_t bytes) {
  const int before = number_of(socket, SOL_SOCKET, SO_SNDBUF);
  if (before >= kLargestSendBuffer) return;
  const int locks = number_of(socket, SOL_SOCKET, SO_BUF_LOCK);
  const int wanted = std::min(before + 2 * static_cast<int>(bytes), kLargestSendBuffer) / 2;
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUFFORCE, &wanted, sizeof wanted) != 0)
    set_flag(socket, SOL_SOCKET, SO_SNDBUF, wanted);
  set_flag(socket, SOL_SOCKET, SO_BUF_LOCK, locks);
}

bool is_tuple_clash(int code) { return code == EADDRINUSE || code == EADDRNOTAVAIL; }

void store_windows(const LegStorage& storage, const Fd& socket, const Profile& profile,
                   const FailedCall& failed) {
  if (storage.put(socket, profile) || !failed) return;
  const auto segments = static_cast<int>(profile.initial_window.value_or(Segments{}).count);
  failed({0, 0, "BPF storage", segments, "initial_window"}, failure("bpf"));
}

Result<Fd> try_connecting(const ServerLegSpec& spec, const std::optional<Endpoint>& as,
                          const FailedCall& failed) {
  Result<Fd> socket = new_socket(spec.to.value.address.family());
  if (!socket) return socket;
  if (auto error = make_all(*socket, server_leg_calls(spec), failed)) return *error;
  if (spec.storage) store_windows(*spec.storage, *socket, spec.treatment->settings, failed);
  if (as) {
    if (as->port == 0) set_flag(*socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    const SocketAddress from = to_kernel(*as);
    if (::bind(socket->get(), from.get(), from.length) != 0) return failure("bind");
  }
  const SocketAddress to = to_kernel(spec.to.value);
  if (::connect(socket->get(), to.get(), to.length) != 0 && errno != EINPROGRESS) return failure("connect");
  return socket;
}

}  // namespace

std::vector<SocketCall> listener_calls(const ListenerSpec& spec) {
  const Family family = spec.at.address.family();
  std::vector<SocketCall> calls;
  calls.push_back(flag(SOL_SOCKET, SO_REUSEADDR, "SO_REUSEADDR"));
  calls.push_back(flag(SOL_SOCKET, SO_REUSEPORT, "SO_REUSEPORT"));
  if (family == Family::ipv6) calls.push_back(flag(IPPROTO_IPV6, IPV6_V6ONLY, "IPV6_V6ONLY"));
  if (spec.transparent) add_transparent(calls, family);
  add_leg_basics(calls);
  calls.push_back(flag(IPPROTO_TCP, TCP_SAVE_SYN, "TCP_SAVE_SYN"));
  append(calls, spec.treatment->calls(family).handshake);
  append(calls, inherited_calls(family));
  return calls;
}

std::vector<SocketCall> server_leg_calls(const ServerLegSpec& spec) {
  const Family family = spec.to.value.address.family();
  std::vector<SocketCall> calls;
  calls.reserve(kMostCalls);
  add_leg_basics(calls);
  if (spec.transparent) add_transparent(calls, family);
  if (spec.as) calls.push_back(flag(SOL_SOCKET, SO_REUSEADDR, "SO_REUSEADDR"));
  if (spec.mark != 0) calls.push_back(flag(SOL_SOCKET, SO_MARK, "SO_MARK", static_cast<int>(spec.mark)));
  if (spec.dscp) calls.push_back(dscp_call(family, *spec.dscp));
  append(calls, spec.treatment->calls(family).handshake);
  append(calls, spec.treatment->calls(family).connection);
  if (spec.mss) calls.push_back({IPPROTO_TCP, TCP_MAXSEG, "TCP_MAXSEG", static_cast<int>(*spec.mss), "mss"});
  return calls;
}

std::vector<SocketCall> client_leg_calls(const LegTreatment& treatment, Family family) {
  const auto& wanted = treatment.calls(family).connection;
  const auto& inherited = inherited_calls(family);
  std::vector<SocketCall> calls;
  for (const SocketCall& call : inherited)
    if (must_be_undone(call, wanted)) calls.push_back({call.level, call.name, call.label, 0, call.key});
  for (const SocketCall& call : wanted)
    if (std::find(inherited.begin(), inherited.end(), call) == inherited.end()) calls.push_back(call);
  return calls;
}

Result<Fd> listen_at(const ListenerSpec& spec, const FailedCall& failed) {
  Result<Fd> socket = new_socket(spec.at.address.family());
  if (!socket) return socket;
  if (auto error = make_all(*socket, listener_calls(spec), failed)) return *error;
  if (spec.storage) store_windows(*spec.storage, *socket, spec.treatment->settings, failed);
  const SocketAddress at = to_kernel(spec.at);
  if (::bind(socket->get(), at.get(), at.length) != 0) return failure("bind");
  if (::listen(socket->get(), kListenBacklog) != 0) return failure("listen");
  return socket;
}

bool is_free(const Endpoint& at, bool transparent) {
  Result<Fd> socket = new_socket(at.address.family());
  if (!socket) return false;
  std::vector<SocketCall> calls{flag(SOL_SOCKET, SO_REUSEADDR, "SO_REUSEADDR")};
  if (!at.address.is_v4()) calls.push_back(flag(IPPROTO_IPV6, IPV6_V6ONLY, "IPV6_V6ONLY"));
  if (transparent) add_transparent(calls, at.address.family());
  if (make_all(*socket, calls, nullptr)) return false;
  const SocketAddress address = to_kernel(at);
  return ::bind(socket->get(), address.get(), address.length) == 0 && ::listen(socket->get(), 1) == 0;
}

Result<Accepted> accept_one(const Fd& listener) {
  SocketAddress client;
  Fd socket{::accept4(listener.get(), client.get(), &client.length, SOCK_NONBLOCK | SOCK_CLOEXEC)};
  if (!socket) return failure("accept");
  return Accepted{std::move(socket), from_kernel(client)};
}

Result<Endpoint> redirected_from(const Fd& socket, Family family) {
  SocketAddress original;
  const int level = family == Family::ipv4 ? SOL_IP : SOL_IPV6;
  if (::getsockopt(socket.get(), level, kOriginalDestination, original.get(), &original.length) != 0)
    return failure("SO_ORIGINAL_DST");
  return from_kernel(original);
}

SynFacts syn_facts(const Fd& socket) {
  std::array<std::uint8_t, 256> header{};  // the IP and TCP headers as they came
  socklen_t length = header.size();
  if (::getsockopt(socket.get(), IPPROTO_TCP, TCP_SAVED_SYN, header.data(), &length) != 0) return {};
  return read_syn(std::span{header}.first(length));
}

Result<ServerLeg> start_connecting(const ServerLegSpec& spec, const FailedCall& failed) {
  Result<Fd> socket = try_connecting(spec, spec.as, failed);
  if (socket) return ServerLeg{std::move(*socket), false};
  if (!spec.as || spec.as->port == 0 || !is_tuple_clash(socket.error().code)) return socket.error();
  Endpoint any_port = *spec.as;
  any_port.port = 0;
  socket = try_connecting(spec, any_port, failed);
  if (!socket) return socket.error();
  return ServerLeg{std::move(*socket), true};
}

int send_waiting_syn(const Fd& socket) {
  if (::send(socket.get(), "", 0, MSG_NOSIGNAL) == 0) return 0;
  return errno == EINPROGRESS || errno == EAGAIN ? 0 : errno;
}

int pending_error(const Fd& socket) {
  int code = 0;
  socklen_t length = sizeof code;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &code, &length) != 0) return errno;
  return code;
}

void apply(const Fd& socket, std::span<const SocketCall> calls, const FailedCall& failed) {
  static_cast<void>(make_all(socket, calls, failed));
}

std::vector<RefusedCall> probe(const LegTreatment& treatment, Family family) {
  std::vector<RefusedCall> refused;
  Result<Fd> socket = new_socket(family);
  if (!socket) return refused;
  const auto note = [&](const SocketCall& call, SystemError error) { refused.push_back({call, error}); };
  apply(*socket, treatment.calls(family).handshake, note);
  apply(*socket, treatment.calls(family).connection, note);
  return refused;
}

void acknowledge_now(const Fd& socket) { set_flag(socket, IPPROTO_TCP, TCP_QUICKACK, 1); }

void cork(const Fd& socket) { set_flag(socket, IPPROTO_TCP, TCP_CORK, 1); }

// Clearing TCP_CORK pushes what MSG_MORE held back, whether or not the socket was corked (tcp(7)).
void push(const Fd& socket) { set_flag(socket, IPPROTO_TCP, TCP_CORK, 0); }

void close_in_order(const Fd& socket) {
  const linger off{0, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &off, sizeof off);
}

Result<bool> finish_writing(const Fd& socket) {
  if (::shutdown(socket.get(), SHUT_WR) != 0) return failure("shutdown");
  return true;
}

MoreRoom::MoreRoom(const Fd& socket, std::size_t bytes)
    : socket_{socket}, unsent_limit_{number_of(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT)} {
  enlarge_send_buffer(socket, bytes);
  if (unsent_limit_ != 0) set_flag(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, 0);
}

MoreRoom::~MoreRoom() {
  if (unsent_limit_ != 0) set_flag(socket_, IPPROTO_TCP, TCP_NOTSENT_LOWAT, unsent_limit_);
}

bool is_connecting(const Fd& socket) {
  std::uint8_t state = 0;  // the first byte of TCP_INFO
  socklen_t length = sizeof state;
  return ::getsockopt(socket.get(), IPPROTO_TCP, TCP_INFO, &state, &length) == 0 && state == TCP_SYN_SENT;
}

bool at_urgent_mark(const Fd& socket) {
  int at = 0;
  return ::ioctl(socket.get(), SIOCATMARK, &at) == 0 && at != 0;
}

std::size_t unread(const Fd& socket) { return queued(socket, SIOCINQ); }

std::size_t unacknowledged(const Fd& socket) { return queued(socket, SIOCOUTQ); }

Endpoint local_endpoint(const Fd& socket) {
  SocketAddress local;
  if (::getsockname(socket.get(), local.get(), &local.length) != 0) return {};
  return from_kernel(local);
}

bool is_local_address(const IpAddress& address) {
  Result<Fd> socket = new_socket(address.family());
  if (!socket) return false;
  const SocketAddress at = to_kernel({address, 0});
  return ::bind(socket->get(), at.get(), at.length) == 0;
}

}  // namespace headrace
