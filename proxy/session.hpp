// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "config/settings.hpp"
#include "policy/flow.hpp"
#include "policy/policy_table.hpp"
#include "proxy/close_reason.hpp"
#include "proxy/expected_data.hpp"
#include "proxy/ftp_follower.hpp"
#include "proxy/loop.hpp"
#include "proxy/origin.hpp"
#include "proxy/pump.hpp"
#include "proxy/relay.hpp"
#include "proxy/session_summary.hpp"
#include "proxy/socket.hpp"

namespace headrace {

class Session;

// What a session needs of its worker. Implemented by Worker; outlives every session.
class SessionHost {
 public:
  virtual Loop& loop() = 0;
  virtual WorkerResources& resources() = 0;
  virtual const TimeoutSettings& timeouts() const = 0;
  virtual const FailedCall& failed_call() = 0;
  virtual void wake_at(Session& session, Instant deadline) = 0;  // tick() no later than this
  virtual void run_again(Session& session) = 0;                  // on_ready again next turn, without an event
  virtual void ended(Session& session) = 0;                      // destroy it after this turn
  // The server of a diverted flow was not reached. Before the client hears of it, its further connections to
  // that server are to be left to the kernel.
  virtual void server_failed(const Flow& flow) = 0;

 protected:
  ~SessionHost() = default;
};

// A live pair of legs: connecting -> relaying -> draining -> closed. Owns both legs and its deadlines;
// emits one SessionSummary when it ends. On its worker's thread; destroyed by the worker between turns.
class Session final : public Watcher {
 public:
  enum class Phase : std::uint8_t {
    connecting,  // the server leg is on its way
    relaying,
    draining,  // a leg is broken: what came before goes out, then the other leg is reset
    closed,
  };

  // `decision` is kept for the session's life, so that a reload does not touch it.
  Session(SessionHost& host, std::uint64_t id, Fd client, const Flow& flow, Origin origin,
          std::shared_ptr<const Decision> decision);
  ~Session();

  // Before start(): what follows its control channel, and whose data connection it is.
  void follow_by(std::unique_ptr<FtpFollower> follower);
  void is_data_of(std::unique_ptr<const ExpectedData> announced);

  // Watches the client leg and starts connecting. May end the session at once.
  void start(const ServerLegSpec& server);
  void start(ServerLeg prepared);  // with a leg that is connected already
  void on_ready(unsigned leg, Events events) noexcept override;
  void tick(Instant now) noexcept;
  // Resets both legs now.
  void stop(CloseReason reason) noexcept;

  Phase phase() const { return phase_; }
  std::uint64_t id() const { return id_; }
  const Flow& flow() const { return flow_; }
  // In whose share of the sessions it counts.
  const IpAddress& counts_for() const { return data_ ? data_->client : flow_.client.value.address; }
  const SessionSummary& summary() const { return *summary_; }  // once closed

  // The worker's note of when it will tick this session next.
  Instant queued_at = Instant::max();
  bool is_ready = false;  // in the worker's list of sessions to run again

 private:
  enum : unsigned { kClientLeg, kServerLeg };

  bool watch_client();
  void watch_server(ServerLeg leg);
  void connected();
  void connecting_failed(int code);
  void relay() noexcept;
  void begin_draining(CloseReason reason);
  void drain();
  void end_in_order();
  void close(CloseReason reason);
  CloseReason reason_of_broken_leg() const;
  void schedule();
  Instant quiet_since() const;
  Instant next_deadline() const;

  SessionHost& host_;
  std::uint64_t id_;
  Flow flow_;
  std::shared_ptr<const Decision> decision_;
  Leg client_;  // before the watches: polling stops before the descriptor closes
  Leg server_;
  Watch client_watch_;
  Watch server_watch_;
  std::unique_ptr<FtpFollower> follower_;     // none: no control session
  std::unique_ptr<const ExpectedData> data_;  // none: no data connection of one
  Relay relay_;
  Phase phase_ = Phase::connecting;
  Origin origin_;
  CloseReason reason_ = CloseReason::stopped;
  bool other_port_ = false;
  bool server_finished_first_ = false;
  Instant started_;
  Instant last_moved_;
  Instant drain_check_ = Instant::max();
  std::size_t drain_left_ = 0;  // bytes the surviving leg had not acknowledged at the last check
  std::unique_ptr<SessionSummary> summary_;
};

// An idle session costs this and its two sockets, nothing else (scenarios: at most 1 KiB).
static_assert(sizeof(Session) <= 960);

}  // namespace headrace
