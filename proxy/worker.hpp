// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "config/settings.hpp"
#include "policy/policy_table.hpp"
#include "proxy/admission.hpp"
#include "proxy/counters.hpp"
#include "proxy/expected_data.hpp"
#include "proxy/failed_servers.hpp"
#include "proxy/ftp_follower.hpp"
#include "proxy/leg_storage.hpp"
#include "proxy/listener.hpp"
#include "proxy/log.hpp"
#include "proxy/loop.hpp"
#include "proxy/mailbox.hpp"
#include "proxy/prepared_legs.hpp"
#include "proxy/resources.hpp"
#include "proxy/session.hpp"

namespace headrace {

// What all workers are given and none changes, but Admission, PreparedLegs, MemoryBudget and
// ExpectedConnections, which say so themselves.
struct WorkerEnvironment {
  Log& log;
  Admission& admission;
  PreparedLegs& prepared;
  MemoryBudget& budget;
  ExpectedConnections& expected;
  std::size_t most_pipes;             // each
  MarkAndMask marks;                  // of tproxy sessions
  const LegStorage* storage;          // nothing: no BPF
  std::function<void()> became_idle;  // called on the worker's thread when its last session has ended
  std::shared_ptr<SpareDescriptors> spares = std::make_shared<SpareDescriptors>();  // for listeners
};

// What a reload replaces, as a whole.
struct WorkerConfiguration {
  std::shared_ptr<const PolicyTable> policies;
  TimeoutSettings timeouts;
  std::chrono::nanoseconds busy_poll{0};
};

// One thread, its loop, its listeners, its sessions, its counters. Everything private happens on that
// thread; the public verbs but snapshot() are messages to it, in order.
class Worker final : public SessionHost, public Acceptor, public DataHost, public TurnHooks {
 public:
  Worker(unsigned number, const WorkerEnvironment& environment, WorkerConfiguration configuration);
  ~Worker();  // stop()s and joins

  void configure(WorkerConfiguration configuration);
  void open(std::vector<OpenListener> listeners);
  // Takes what waits in their queues, then closes the listeners that are not at one of `keep`.
  void close_listeners_except(std::vector<Endpoint> keep);
  void end_sessions(CloseReason reason);  // resets them
  void stop();                            // resets what lives and ends the thread; idempotent

  Counters::Snapshot snapshot() const { return counters_.snapshot(); }

 private:
  std::optional<ExpectedData> announced(const ListenerPlan& plan, const Flow& flow);
  std::shared_ptr<const Decision> decide(const ListenerPlan& plan, const Flow& flow) const;
  ServerLegSpec server_leg(const ListenerPlan& plan, const Flow& flow, const Decision& decision,
                           const Fd& client) const;
  void run_ready_sessions();
  void run_deadlines(Instant now);
  void resume_listeners(Instant now);
  void reap();

  // SessionHost
  Loop& loop() override { return loop_; }
  WorkerResources& resources() override { return resources_; }
  const TimeoutSettings& timeouts() const override { return configuration_.timeouts; }
  const FailedCall& failed_call() override { return failed_call_; }
  void wake_at(Session& session, Instant deadline) override;
  void run_again(Session& session) override;
  void ended(Session& session) override;
  void server_failed(const Flow& flow) override { failed_servers_.note(flow); }
  // Acceptor
  void accepted(const ListenerPlan& plan, Accepted connection) override;
  void connection_shed() override { counters_.connection_shed(); }
  void listener_waits() override;
  // DataHost
  void expect(const ExpectedData& data) override;
  void forget(const ExpectedData& data) override { environment_.expected.remove(data, loop_.now()); }
  std::uint16_t listen_for(const ExpectedData& data, const Endpoint& here) override;
  void stop_listening(const Endpoint& at) override;
  Instant now() const override { return loop_.now(); }
  // TurnHooks
  Instant next_deadline() noexcept override;
  void turn_began(Instant now) noexcept override { resources_.now = now; }
  void turn_ended(Instant now) noexcept override;

  WorkerEnvironment environment_;
  WorkerConfiguration configuration_;
  std::shared_ptr<const Decision> fallback_;  // for flows that were diverted under policies just replaced
  Counters counters_;
  FailedServers failed_servers_;
  FailedCall failed_call_;
  WorkerResources resources_;
  Loop loop_;
  Mailbox mailbox_;
  std::uint64_t next_id_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::map<Endpoint, std::unique_ptr<Listener>> data_listeners_;  // by where they listen
  Instant resume_at_ = Instant::max();                            // listeners that wait for a descriptor
  std::vector<std::unique_ptr<Listener>> retired_;                // until no event of this turn can name them
  std::unordered_map<std::uint64_t, std::unique_ptr<Session>> sessions_;
  std::set<std::pair<Instant, Session*>> deadlines_;
  std::vector<Session*> ready_;
  std::vector<std::uint64_t> ended_;
  std::thread thread_;
};

}  // namespace headrace
