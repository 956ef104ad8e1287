// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/session.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace headrace {
namespace {

// How often a draining session asks whether its last bytes were acknowledged: there is no event for it.
constexpr std::chrono::milliseconds kDrainInterval{10};
// How long the last bytes before a reset may take without any of them moving.
constexpr std::chrono::seconds kDrainPatience{60};

PumpSettings settings_between(const LegTreatment& from, const LegTreatment& to) {
  return {.quickack = from.settings.quickack,
          .cork = to.settings.cork,
          .pace = to.settings.pace,
          .burst = to.settings.burst.value_or(Bytes{})};
}

// IP and TCP headers without options but timestamps (RFC 791, 8200, 9293, 7323).
SegmentShape shape_of(const TcpInfo& info, Family family) {
  const std::size_t headers = (family == Family::ipv4 ? 20U : 40U) + 20U + (info.timestamps ? 12U : 0U);
  return {std::max<std::size_t>(info.send_mss.count, 1), headers};
}

CloseReason reason_of_connect_error(int code) {
  switch (code) {
    case ECONNREFUSED:
      return CloseReason::server_refused;
    case ETIMEDOUT:
      return CloseReason::connect_timeout;
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EHOSTDOWN:
    case ENETDOWN:
      return CloseReason::server_unreachable;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
      return CloseReason::no_resources;
    default:
      return CloseReason::connect_failed;
  }
}

bool is_time_out(int code) { return code == ETIMEDOUT || code == EHOSTUNREACH || code == ENETUNREACH; }

}  // namespace

Session::Session(SessionHost& host, std::uint64_t id, Fd client, const Flow& flow, Origin origin,
                 std::shared_ptr<const Decision> decision)
    : host_{host},
      id_{id},
      flow_{flow},
      decision_{std::move(decision)},
      relay_{client_, server_, settings_between(*decision_->client_leg, *decision_->server_leg),
             settings_between(*decision_->server_leg, *decision_->client_leg)},
      origin_{origin},
      started_{host.loop().now()},
      last_moved_{started_} {
  client_.socket = std::move(client);
}

Session::~Session() {
  relay_.release(host_.resources());
  if (data_) data_->control->ended(host_.loop().now());
}

void Session::follow_by(std::unique_ptr<FtpFollower> follower) {
  follower_ = std::move(follower);
  relay_.set_taps(follower_->commands(), follower_->replies());
}

void Session::is_data_of(std::unique_ptr<const ExpectedData> announced) {
  data_ = std::move(announced);
  data_->control->began();
}

void Session::start(const ServerLegSpec& server) {
  if (!watch_client()) return;
  Result<ServerLeg> leg = start_connecting(server, host_.failed_call());
  if (!leg) return connecting_failed(leg.error().code);
  server_.may_be_connecting = decision_->server_leg->settings.fast_open;
  // What the client has said already may go with the SYN. Without any of it the server may be the one to
  // speak.
  if (server_.may_be_connecting && unread(client_.socket) == 0)
    if (const int code = send_waiting_syn(leg->socket); code != 0) return connecting_failed(code);
  watch_server(std::move(*leg));
}

// The watch tells at once that it is writable, and with that it goes on as if it had just connected.
void Session::start(ServerLeg prepared) {
  if (watch_client()) watch_server(std::move(prepared));
}

bool Session::watch_client() {
  if (!client_watch_.start(host_.loop(), client_.socket, *this, kClientLeg)) {
    close(CloseReason::no_resources);
    return false;
  }
  apply(client_.socket, client_leg_calls(*decision_->client_leg, flow_.client.value.address.family()),
        host_.failed_call());
  return true;
}

void Session::watch_server(ServerLeg leg) {
  other_port_ = leg.other_port;
  server_.socket = std::move(leg.socket);
  if (!server_watch_.start(host_.loop(), server_.socket, *this, kServerLeg))
    return close(CloseReason::no_resources);
  schedule();
}

void Session::on_ready(unsigned leg, Events events) noexcept {
  (leg == kClientLeg ? client_ : server_).note(events);
  if (phase_ == Phase::connecting) {
    // An end in order is no reason to give up: a client may finish writing before the server has answered.
    if (leg == kServerLeg && (events.writable || events.ending)) return connected();
    // Words that it left behind a reset are still for the server; a client that left none needs no server.
    if (leg == kClientLeg && events.broken && unread(client_.socket) == 0)
      return close(CloseReason::client_gone);
    return;
  }
  if (phase_ == Phase::relaying) return relay();
  if (phase_ == Phase::draining) return drain();
}

void Session::connected() {
  const int code = server_.hung_up ? pending_error(server_.socket) : 0;  // an attempt that failed hangs up
  // It was connected and reset before we looked (an attempt that fails is refused): its bytes still count.
  if (code == ECONNRESET || code == EPIPE)
    server_.break_with(code);
  else if (code != 0)
    return connecting_failed(code);
  phase_ = Phase::relaying;
  last_moved_ = host_.loop().now();
  if (follower_) follower_->connected_as(local_endpoint(server_.socket));
  if (decision_->client_leg->settings.pace || decision_->server_leg->settings.pace)
    relay_.set_shapes(shape_of(tcp_info(client_.socket), flow_.client.value.address.family()),
                      shape_of(tcp_info(server_.socket), flow_.destination.value.address.family()));
  relay();
}

void Session::connecting_failed(int code) { close(reason_of_connect_error(code)); }

void Session::relay() noexcept {
  if (relay_.run(host_.resources())) last_moved_ = host_.loop().now();
  if (relay_.to_client().phase() == Pump::Phase::finished &&
      relay_.to_server().phase() != Pump::Phase::finished)
    server_finished_first_ = true;
  if (relay_.is_finished()) return end_in_order();
  if (client_.broken != 0 || server_.broken != 0) return begin_draining(reason_of_broken_leg());
  if (relay_.has_more()) host_.run_again(*this);
  schedule();
}

CloseReason Session::reason_of_broken_leg() const {
  if (client_.broken != 0)
    return is_time_out(client_.broken) ? CloseReason::client_timed_out : CloseReason::client_reset;
  if (server_.broken == ECONNREFUSED) return CloseReason::server_refused;  // a fast-open SYN with data
  return is_time_out(server_.broken) ? CloseReason::server_timed_out : CloseReason::server_reset;
}

void Session::begin_draining(CloseReason reason) {
  phase_ = Phase::draining;
  reason_ = reason;
  last_moved_ = host_.loop().now();
  drain();
}

// The broken leg's last bytes go to the other leg; when that has acknowledged them, it is reset.
void Session::drain() {
  if (relay_.run(host_.resources())) last_moved_ = host_.loop().now();
  const bool client_broke = client_.broken != 0;
  const Leg& survivor = client_broke ? server_ : client_;
  const Pump& last = client_broke ? relay_.to_server() : relay_.to_client();
  const bool all_read = last.phase() != Pump::Phase::flowing && last.phase() != Pump::Phase::ending;
  const std::size_t left = unacknowledged(survivor.socket);
  if (std::exchange(drain_left_, left) > left) last_moved_ = host_.loop().now();
  const bool all_out = all_read && !last.is_holding() && left == 0;
  const bool nobody_left = survivor.broken != 0;
  if (all_out || nobody_left || host_.loop().now() - last_moved_ > kDrainPatience) return close(reason_);
  if (relay_.has_more()) host_.run_again(*this);
  drain_check_ = host_.loop().now() + kDrainInterval;
  schedule();
}

void Session::end_in_order() {
  close(server_finished_first_ ? CloseReason::server_fin : CloseReason::client_fin);
  // What is closed already has nothing left to be cut.
  if (!summary_->client.closed) close_in_order(client_.socket);
  if (!summary_->server.closed) close_in_order(server_.socket);
}

void Session::stop(CloseReason reason) noexcept {
  if (phase_ != Phase::closed) close(reason);
}

// The only way out. The sockets close when the worker destroys the session; with linger 0 that is a reset.
void Session::close(CloseReason reason) {
  HEADRACE_INVARIANT(phase_ != Phase::closed);
  phase_ = Phase::closed;
  client_watch_.stop();
  server_watch_.stop();
  summary_ = std::make_unique<SessionSummary>(SessionSummary{.id = id_,
                                                             .flow = flow_,
                                                             .policy = decision_->policy,
                                                             .client_profile = decision_->client_leg->profile,
                                                             .server_profile = decision_->server_leg->profile,
                                                             .traffic = relay_.traffic(),
                                                             .duration = host_.loop().now() - started_,
                                                             .client = tcp_info(client_.socket),
                                                             .server = tcp_info(server_.socket),
                                                             .other_port = other_port_,
                                                             .reason = reason});
  // A forwarder's client has no other way to the server.
  if (is_failed_connect(reason) && origin_ != Origin::forward) host_.server_failed(flow_);
  host_.ended(*this);
}

Instant Session::next_deadline() const {
  const TimeoutSettings& timeouts = host_.timeouts();
  Instant next = std::min(relay_.next_deadline(), drain_check_);
  if (phase_ == Phase::connecting && timeouts.connect) next = std::min(next, started_ + *timeouts.connect);
  if (follower_) next = std::min(next, follower_->next_deadline());
  if (phase_ != Phase::relaying) return next;
  if (timeouts.idle) next = std::min(next, quiet_since() + *timeouts.idle);
  if (timeouts.half_closed && relay_.is_half_closed())
    next = std::min(next, quiet_since() + *timeouts.half_closed);
  return next;
}

// A control channel says nothing while data flows, and that may go on here after the server has called it
// done.
Instant Session::quiet_since() const {
  if (!follower_) return last_moved_;
  return follower_->is_busy() ? host_.loop().now() : std::max(last_moved_, follower_->last_ended());
}

void Session::schedule() {
  if (const Instant deadline = next_deadline(); deadline != Instant::max()) host_.wake_at(*this, deadline);
}

void Session::tick(Instant now) noexcept {
  if (phase_ == Phase::closed) return;
  const TimeoutSettings& timeouts = host_.timeouts();
  relay_.tick(now);
  if (follower_) follower_->tick(now);
  if (relay_.has_more()) host_.run_again(*this);
  if (phase_ == Phase::draining && drain_check_ <= now) return drain();
  if (phase_ == Phase::connecting && timeouts.connect && now - started_ >= *timeouts.connect)
    return close(CloseReason::connect_timeout);
  if (phase_ == Phase::relaying) {
    const auto quiet = now - quiet_since();
    if (timeouts.idle && quiet >= *timeouts.idle) return close(CloseReason::idle_timeout);
    if (timeouts.half_closed && relay_.is_half_closed() && quiet >= *timeouts.half_closed)
      return close(CloseReason::half_closed_timeout);
  }
  schedule();
}

}  // namespace headrace
