// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/listener.hpp"

#include <algorithm>
#include <cerrno>

namespace headrace {
namespace {

// Connections taken before live sessions get their turn; the rest waits in the kernel's queue.
constexpr int kMostAtOnce = 64;
// A look into an empty queue costs the kernel as much as a socket. So a listener takes one a turn, and looks
// for a second each time that it has been told so often; where it finds one, it takes twice as many the next
// time.
constexpr int kTurnsBetweenLooks = 8;
constexpr int kAcceptAll = 100'000;

}  // namespace

Origin origin_of(InterceptMode mode) {
  return mode == InterceptMode::tproxy ? Origin::tproxy : Origin::redirect;
}

ServerLegSpec server_leg_spec(Origin origin, const MarkAndMask& marks, const Flow& flow,
                              const Decision& decision) {
  const Profile& leg = decision.server_leg->settings;
  ServerLegSpec spec;
  spec.to = flow.destination;
  spec.treatment = decision.server_leg.get();
  spec.mark = leg.mark.value_or(Mark{}).value;
  if (origin != Origin::tproxy) return spec;
  spec.mark |= marks.server_mark(leg);
  if (decision.connect_as == ConnectAs::proxy) return spec;
  spec.as = flow.client.value;
  if (decision.connect_as == ConnectAs::client_address) spec.as->port = 0;
  spec.transparent = true;
  return spec;
}

// Nothing comes back the other way: of a connection that it began a process cannot learn how the peer's
// packets are marked. With IP_RECVTOS set before connect, IP_PKTOPTIONS says 0 whatever came (6.18: the
// kernel notes it in tcp_v4_syn_recv_sock only, for who accepts); IPV6_2292PKTOPTIONS would tell, in one
// family; recvmsg brings no such cmsg for TCP in either.
void carry_over(const SynFacts& syn, const Profile& leg, ServerLegSpec& spec) {
  if (!leg.dscp && syn.dscp.code_point != 0) spec.dscp = syn.dscp;
  if (leg.mss.mode == Mss::Mode::mirror && syn.mss != 0) spec.mss = syn.mss;
}

std::optional<OriginalDestination> original_destination(const ListenerPlan& plan, const Fd& accepted) {
  switch (plan.origin) {
    case Origin::forward:
      return OriginalDestination{*plan.forward_to};
    case Origin::tproxy: {
      const Endpoint local = local_endpoint(accepted);
      if (local == plan.at || local.address.is_loopback()) return std::nullopt;
      return OriginalDestination{local};
    }
    case Origin::redirect: {
      const Endpoint local = local_endpoint(accepted);
      const Result<Endpoint> original = redirected_from(accepted, local.address.family());
      if (!original || *original == local || original->address.is_loopback()) return std::nullopt;
      if (is_local_address(original->address)) return std::nullopt;
      return OriginalDestination{*original};
    }
  }
  return std::nullopt;
}

Listener::Listener(Loop& loop, Acceptor& acceptor, OpenListener listener, SpareDescriptors& spares)
    : loop_{loop}, acceptor_{acceptor}, listener_{std::move(listener)}, spares_{spares} {
  resume();
}

void Listener::resume() {
  if (!watched_) watched_ = watch_.start(loop_, listener_.socket, *this, 0, Watch::Trigger::level);
}

void Listener::on_ready(unsigned, Events) noexcept {
  if (share_ == 1 && ++turns_ < kTurnsBetweenLooks) {
    static_cast<void>(accept_next());
    return;
  }
  turns_ = 0;
  const int share = std::min(2 * share_, kMostAtOnce);
  int taken = 0;
  while (taken < share && accept_next()) ++taken;
  share_ = taken == share ? share : 1;
}

void Listener::accept_all() noexcept {
  for (int most = kAcceptAll; most > 0 && accept_next(); --most) {
  }
}

// False when there is nothing more to take now.
bool Listener::accept_next() {
  Result<Accepted> connection = accept_one(listener_.socket);
  if (connection) {
    if (spares_.refill()) {
      acceptor_.accepted(listener_.plan, std::move(*connection));
    } else {
      connection->socket.close();  // its descriptor is a spare one that another thread had snatched
      spares_.refill();
      acceptor_.connection_shed();
    }
    return true;
  }
  switch (connection.error().code) {
    case EMFILE:
    case ENFILE:
      return shed();
    case EAGAIN:
    case ENOBUFS:
    case ENOMEM:
    case EBADF:
    case EINVAL:
      return false;
    default:
      return true;  // the connection's own misfortune (ECONNABORTED, EPROTO ...): the next one
  }
}

// Takes the connection with a spare descriptor and closes it: with the listener's linger 0, a reset. False
// when there was none (accept4 wants a descriptor before it looks at the queue) or no spare to take it with:
// then a level-triggered watch would spin until some session ends.
bool Listener::shed() {
  if (!spares_.give_up_one()) {
    watch_.stop();
    watched_ = false;
    acceptor_.listener_waits();
    return false;
  }
  const bool taken = static_cast<bool>(accept_one(listener_.socket));
  spares_.refill();
  if (taken) acceptor_.connection_shed();
  return taken;
}

}  // namespace headrace
