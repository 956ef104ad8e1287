// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policy/address.hpp"
#include "policy/flow.hpp"
#include "policy/leg_setting.hpp"
#include "policy/policy_table.hpp"
#include "proxy/fd.hpp"
#include "proxy/leg_storage.hpp"
#include "proxy/result.hpp"
#include "proxy/syn_facts.hpp"

// Every socket call that is not a byte moving (those are in proxy/pump.cpp), as free functions over Fd.
// None blocks, none throws, none logs. What a listener and a server leg are given beyond their policy is
// itself a list of SocketCalls, so that `explain` shows exactly what is done here.
namespace headrace {

// Bursts of connects wait here for the worker (B44); the kernel cuts it to net.core.somaxconn (4,096).
constexpr int kListenBacklog = 4096;

// Where a leg's connection goes and whom it claims to be.
struct ListenerSpec {
  Endpoint at;
  bool transparent = false;   // IP_TRANSPARENT: takes connections to any address that tproxy brings
  SharedTreatment treatment;  // of which the handshake calls are the listener's
  const LegStorage* storage = nullptr;
};

struct ServerLegSpec {
  OriginalDestination to;
  std::optional<Endpoint> as;        // bind to this first (port 0: any); empty: the kernel chooses
  bool transparent = false;          // needed to bind to an address that isn't ours
  std::uint32_t mark = 0;            // SO_MARK; 0: none
  std::optional<Dscp> dscp;          // carried over from the client's SYN
  std::optional<std::uint16_t> mss;  // mirrored from the client's SYN; the kernel bounds it by the path
  const LegStorage* storage = nullptr;
  const LegTreatment* treatment = nullptr;
};

// The calls before bind and listen, and before bind and connect, in the order in which they are made.
std::vector<SocketCall> listener_calls(const ListenerSpec& spec);
std::vector<SocketCall> server_leg_calls(const ServerLegSpec& spec);
// The calls on a client leg after accept: where its policy differs from what its listener handed down, which
// is what a profile asks for that says nothing.
std::vector<SocketCall> client_leg_calls(const LegTreatment& treatment, Family family);

// Told of a call that failed although the session goes on without it.
using FailedCall = std::function<void(const SocketCall&, SystemError)>;

// A listening socket. Policy calls that fail are told to `failed` and left out; anything else is an error.
Result<Fd> listen_at(const ListenerSpec& spec, const FailedCall& failed);
// True when nothing listens at `at` yet (bound without SO_REUSEPORT for a moment and let go).
bool is_free(const Endpoint& at, bool transparent);

struct Accepted {
  Fd socket;
  Endpoint client;
};
// EAGAIN when the queue is empty; EMFILE, ENFILE when there is no descriptor for it.
Result<Accepted> accept_one(const Fd& listener);
// Where a redirected connection was going (SO_ORIGINAL_DST, IP6T_SO_ORIGINAL_DST).
Result<Endpoint> redirected_from(const Fd& socket, Family family);
// What the SYN that opened an accepted connection said (TCP_SAVED_SYN); frees the kernel's copy. Nothing for
// a connection through a SYN cookie.
SynFacts syn_facts(const Fd& socket);

struct ServerLeg {
  Fd socket;
  bool other_port = false;  // the client's own port clashed; the kernel chose another
};
// Starts connecting. A clash of the 4-tuple falls back to another port of the same address.
Result<ServerLeg> start_connecting(const ServerLegSpec& spec, const FailedCall& failed);
// With fast open and a cookie, the SYN of a leg that started connecting waits for data. Makes it leave
// without. 0, or the errno that ended the attempt.
int send_waiting_syn(const Fd& socket);
// SO_ERROR: 0, or the errno that ended the attempt to connect or the connection. Asking clears it, and then
// recv() reports an end that never was: whoever asks latches the answer.
int pending_error(const Fd& socket);

// Makes the calls of settings, in order; those that fail are told to `failed`.
void apply(const Fd& socket, std::span<const SocketCall> calls, const FailedCall& failed);
// The policy calls of `treatment` that this process may not make or this kernel refuses, tried on a
// socket made for it.
struct RefusedCall {
  SocketCall call;
  SystemError error;
};
std::vector<RefusedCall> probe(const LegTreatment& treatment, Family family);

// One setsockopt each; errors don't matter (the next read or write tells).
void acknowledge_now(const Fd& socket);  // TCP_QUICKACK: sends a delayed ACK and leaves delayed-ACK mode
void cork(const Fd& socket);  // holds partial segments back until push(), the kernel's 200 ms at most
void push(const Fd& socket);  // sends what MSG_MORE or cork() held back
void close_in_order(const Fd& socket);          // takes linger 0 off: close() will end the stream, not cut it
Result<bool> finish_writing(const Fd& socket);  // FIN

// Makes room in a send buffer for so many bytes more, up to a bound, and while it lives no limit of unsent
// bytes is kept. The buffer stays as large; whether the kernel tunes it stays as it was.
class MoreRoom {
 public:
  MoreRoom(const Fd& socket, std::size_t bytes);
  ~MoreRoom();
  MoreRoom(const MoreRoom&) = delete;
  MoreRoom& operator=(const MoreRoom&) = delete;

 private:
  const Fd& socket_;
  int unsent_limit_ = 0;
};

bool is_connecting(const Fd& socket);             // in SYN_SENT
bool at_urgent_mark(const Fd& socket);            // SIOCATMARK
std::size_t unread(const Fd& socket);             // SIOCINQ, in bytes; also what came before a reset
std::size_t unacknowledged(const Fd& socket);     // SIOCOUTQ: by the peer, in bytes; 0 when it is gone
Endpoint local_endpoint(const Fd& socket);        // getsockname; 0.0.0.0:0 when the socket is gone
bool is_local_address(const IpAddress& address);  // an address of this host, by binding to it

}  // namespace headrace
