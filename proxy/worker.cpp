// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/worker.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace headrace {
namespace {

// Session ids tell the worker that made them: its number in the bits above these.
constexpr unsigned kIdBits = 48;
// How long a listener waits that has no descriptor, not even to turn connections away.
constexpr std::chrono::milliseconds kListenerPause{50};

std::shared_ptr<const Decision> plain_decision() {
  Decision decision;
  decision.policy = "-";
  decision.client_leg = make_treatment("plain", Profile{}, Side::client);
  decision.server_leg = make_treatment("plain", Profile{}, Side::server);
  return std::make_shared<const Decision>(std::move(decision));
}

}  // namespace

Worker::Worker(unsigned number, const WorkerEnvironment& environment, WorkerConfiguration configuration)
    : environment_{environment},
      configuration_{std::move(configuration)},
      fallback_{plain_decision()},
      failed_servers_{environment_.log, counters_},
      failed_call_{[this](const SocketCall& call, SystemError error) {
        counters_.call_failed();
        environment_.log.debug(print(call) + " for " + std::string{call.key} + ": " + print(error));
      }},
      resources_{environment.budget, environment.most_pipes},
      mailbox_{loop_},
      next_id_{static_cast<std::uint64_t>(number) << kIdBits} {
  loop_.set_hooks(this);
  loop_.set_busy_poll(configuration_.busy_poll);
  thread_ = std::thread{[this] { loop_.run(); }};
}

Worker::~Worker() { stop(); }

void Worker::configure(WorkerConfiguration configuration) {
  mailbox_.post([this, configuration = std::move(configuration)] {
    configuration_ = configuration;
    loop_.set_busy_poll(configuration_.busy_poll);
  });
}

void Worker::open(std::vector<OpenListener> listeners) {
  auto shared = std::make_shared<std::vector<OpenListener>>(std::move(listeners));  // std::function copies
  mailbox_.post([this, shared] {
    for (OpenListener& listener : *shared) {
      auto opened = std::make_unique<Listener>(loop_, *this, std::move(listener), *environment_.spares);
      // Nobody would ever accept there: better that its share of new flows goes to the others, or direct.
      if (opened->is_watched())
        listeners_.push_back(std::move(opened));
      else
        environment_.log.error("listener at " + print(opened->plan().at) + " is closed: epoll takes no more");
    }
  });
}

void Worker::close_listeners_except(std::vector<Endpoint> keep) {
  mailbox_.post([this, keep = std::move(keep)] {
    std::erase_if(listeners_, [&](std::unique_ptr<Listener>& listener) {
      if (std::find(keep.begin(), keep.end(), listener->plan().at) != keep.end()) return false;
      listener->accept_all();
      retired_.push_back(std::move(listener));
      return true;
    });
  });
}

void Worker::end_sessions(CloseReason reason) {
  mailbox_.post([this, reason] {
    for (const auto& [id, session] : sessions_) session->stop(reason);
  });
}

void Worker::stop() {
  if (!thread_.joinable()) return;
  mailbox_.post([this] {
    std::move(listeners_.begin(), listeners_.end(), std::back_inserter(retired_));
    listeners_.clear();
    for (auto& [at, listener] : data_listeners_) retired_.push_back(std::move(listener));
    data_listeners_.clear();
    for (const auto& [id, session] : sessions_) session->stop(CloseReason::stopped);
    loop_.stop();
  });
  thread_.join();
  retired_.clear();
}

std::shared_ptr<const Decision> Worker::decide(const ListenerPlan& plan, const Flow& flow) const {
  if (plan.forward_decision) return plan.forward_decision;
  const auto& table = configuration_.policies;
  const Policy* policy = table ? table->decide(flow) : nullptr;
  if (!policy || policy->decision.action == Action::bypass) return fallback_;
  return {table, &policy->decision};  // keeps the table alive as long as the session
}

// A port that was opened for one connection of one client is nobody else's and nothing further.
std::optional<ExpectedData> Worker::announced(const ListenerPlan& plan, const Flow& flow) {
  if (!plan.data) return environment_.expected.take(flow, loop_.now());
  const auto listening = data_listeners_.find(plan.at);
  if (listening == data_listeners_.end() || plan.data->from != flow.client.value.address) return std::nullopt;
  std::optional<ExpectedData> data = *plan.data;
  retired_.push_back(std::move(listening->second));
  data_listeners_.erase(listening);
  return data;
}

void Worker::expect(const ExpectedData& data) {
  const int error = environment_.expected.add(data, loop_.now());
  if (error != 0)
    environment_.log.debug("the data connection from " + print(data.from) + " to " + print(data.to) +
                           " is left to the kernel: nftables: " + std::strerror(error));
}

std::uint16_t Worker::listen_for(const ExpectedData& data, const Endpoint& here) {
  ListenerPlan plan{Origin::forward,
                    {here.address, 0, here.scope},
                    data.decision->client_leg,
                    data.to,
                    data.decision,
                    std::make_shared<const ExpectedData>(data)};
  Result<Fd> socket = listen_at(plan.spec(environment_.storage), failed_call_);
  if (!socket) return 0;
  plan.at = local_endpoint(*socket);
  auto listener =
      std::make_unique<Listener>(loop_, *this, OpenListener{plan, std::move(*socket)}, *environment_.spares);
  if (!listener->is_watched()) return 0;
  data_listeners_.insert_or_assign(plan.at, std::move(listener));
  return plan.at.port;
}

void Worker::stop_listening(const Endpoint& at) {
  const auto listening = data_listeners_.find(at);
  if (listening == data_listeners_.end()) return;  // its connection has come
  retired_.push_back(std::move(listening->second));
  data_listeners_.erase(listening);
}

ServerLegSpec Worker::server_leg(const ListenerPlan& plan, const Flow& flow, const Decision& decision,
                                 const Fd& client) const {
  ServerLegSpec spec = server_leg_spec(plan.origin, environment_.marks, flow, decision);
  spec.storage = environment_.storage;
  if (plan.data && plan.data->as) spec.as = plan.data->as;
  carry_over(syn_facts(client), decision.server_leg->settings, spec);
  return spec;
}

void Worker::accepted(const ListenerPlan& plan, Accepted connection) {
  const auto destination = original_destination(plan, connection.socket);
  if (!destination) return counters_.direct_refused();
  const Flow flow{ClientEndpoint{connection.client}, *destination};
  std::optional<ExpectedData> data = announced(plan, flow);
  if (plan.data && !data) return counters_.direct_refused();
  // Where nobody is admitted it goes too, and the server hears of it.
  std::optional<PreparedLegs::Prepared> prepared = environment_.prepared.take(flow);
  if (environment_.admission.admit(data ? data->client : flow.client.value.address) !=
      Admission::Verdict::admitted)
    return counters_.limit_refused();
  counters_.session_began();
  const std::shared_ptr<const Decision> decision = prepared ? prepared->decision
                                                   : data   ? data->decision
                                                            : decide(plan, flow);
  const ServerLegSpec server = server_leg(plan, flow, *decision, connection.socket);
  std::unique_ptr<FtpFollower> follower;
  if (decision->data)
    follower = std::make_unique<FtpFollower>(*this, plan.origin, flow, decision->data,
                                             local_endpoint(connection.socket));
  const std::uint64_t id = ++next_id_;
  auto session =
      std::make_unique<Session>(*this, id, std::move(connection.socket), flow, plan.origin, decision);
  Session& started = *session;
  if (data) started.is_data_of(std::make_unique<const ExpectedData>(std::move(*data)));
  if (follower) started.follow_by(std::move(follower));
  sessions_.emplace(id, std::move(session));
  if (prepared)
    started.start(std::move(prepared->leg));
  else
    started.start(server);
}

void Worker::wake_at(Session& session, Instant deadline) {
  if (deadline >= session.queued_at) return;  // the earlier tick will ask again
  deadlines_.erase({session.queued_at, &session});
  session.queued_at = deadline;
  deadlines_.emplace(deadline, &session);
}

void Worker::run_again(Session& session) {
  if (std::exchange(session.is_ready, true)) return;
  ready_.push_back(&session);
}

void Worker::ended(Session& session) { ended_.push_back(session.id()); }

Instant Worker::next_deadline() noexcept {
  if (!ready_.empty()) return Instant::min();
  return std::min(resume_at_, deadlines_.empty() ? Instant::max() : deadlines_.begin()->first);
}

void Worker::turn_ended(Instant now) noexcept {
  run_deadlines(now);
  resume_listeners(now);
  run_ready_sessions();
  failed_servers_.write(configuration_.timeouts.failed_server, now);  // before their clients are reset
  if (!ended_.empty()) reap();  // a control session that goes retires its listener
  retired_.clear();
}

void Worker::run_ready_sessions() {
  std::vector<Session*> ready;
  ready.swap(ready_);
  for (Session* session : ready) {
    session->is_ready = false;
    session->on_ready(0, {});
  }
}

void Worker::run_deadlines(Instant now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    Session& session = *deadlines_.begin()->second;
    deadlines_.erase(deadlines_.begin());
    session.queued_at = Instant::max();
    session.tick(now);
  }
}

void Worker::listener_waits() { resume_at_ = loop_.now() + kListenerPause; }

void Worker::resume_listeners(Instant now) {
  if (now < resume_at_) return;
  resume_at_ = Instant::max();
  const auto resume = [this](Listener& listener) {
    listener.resume();
    if (!listener.is_watched()) listener_waits();
  };
  for (const auto& listener : listeners_) resume(*listener);
  for (const auto& [at, listener] : data_listeners_) resume(*listener);
}

void Worker::reap() {
  std::vector<std::uint64_t> ended;
  ended.swap(ended_);
  for (const std::uint64_t id : ended) {
    const auto found = sessions_.find(id);
    Session& session = *found->second;
    deadlines_.erase({session.queued_at, &session});
    std::erase(ready_, &session);
    const SessionSummary summary = session.summary();
    const IpAddress counted = session.counts_for();
    sessions_.erase(found);  // its sockets close before anybody hears that it is over
    counters_.session_ended(summary);
    environment_.admission.leave(counted);
    environment_.log.session(summary);
  }
  if (sessions_.empty() && environment_.became_idle) environment_.became_idle();
}

}  // namespace headrace
