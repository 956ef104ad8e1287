// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/verifier.hpp"

#include <cerrno>
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <utility>

#include "proxy/listener.hpp"

namespace headrace {
namespace {

using namespace std::chrono_literals;

// How often times are looked at while anything waits.
constexpr auto kLook = 100ms;
// How long a leg waits for its client: a second SYN-ACK and its answer over a slow radio link. Also how long
// a copy of the SYN that comes late is known for one.
constexpr auto kPatience = 10s;
// A client that still waits has sent its SYN again when it is twice as old as it was the last time and one
// first timeout more (RFC 6298, 5.5: doubled each time; first 1 s, 3 s in older stacks). And some time to
// come.
constexpr auto kFirstTimeout = 3s, kOnItsWay = 2s;

SynOutcome outcome_of(int code) {
  switch (code) {
    case ECONNREFUSED:
      return SynOutcome::refused;
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EHOSTDOWN:
    case ENETDOWN:
    case EACCES:  // ICMPv6: administratively prohibited
      return SynOutcome::unreachable;
    case ETIMEDOUT:
      return SynOutcome::timed_out;
    default:
      return SynOutcome::failed;
  }
}

// Our own want says nothing of the server.
bool is_ours(int code) {
  return code == EMFILE || code == ENFILE || code == ENOMEM || code == ENOBUFS || code == EADDRNOTAVAIL ||
         code == EADDRINUSE;
}

std::string_view name(SynOutcome outcome) { return kSynOutcomes.at(static_cast<std::size_t>(outcome)); }

}  // namespace

// A held SYN and the server leg that asks on its behalf.
struct Verifier::Attempt final : Watcher {
  Attempt(Verifier& verifier, const QueuedSyn& held, std::shared_ptr<const Decision> by, Instant now)
      : owner{verifier}, syn{held}, decision{std::move(by)}, began{now}, heard{now} {}
  void on_ready(unsigned, Events events) noexcept override { owner.answered(*this, events); }

  const Flow& flow() const { return syn.packet->flow; }
  bool client_is_gone(Instant now) const { return now - heard > (heard - began) + kFirstTimeout + kOnItsWay; }

  Verifier& owner;
  QueuedSyn syn;  // the last one that came
  std::shared_ptr<const Decision> decision;
  ServerLeg leg;  // before its watch
  Watch watch;
  Instant began;
  Instant heard;
};

Verifier::Verifier(const Environment& environment, std::uint16_t queue, Configuration configuration)
    : environment_{environment},
      configuration_{std::move(configuration)},
      failed_call_{[this](const SocketCall& call, SystemError error) {
        environment_.log.debug(print(call) + " for " + std::string{call.key} + ": " + print(error));
      }},
      queue_{queue, environment.marks},
      mailbox_{loop_} {
  loop_.set_hooks(this);
  if (!watch_.start(loop_, queue_.descriptor(), *this, 0, Watch::Trigger::level))
    throw std::runtime_error{"watch the packet queue: epoll takes no more"};
  thread_ = std::thread{[this] { loop_.run(); }};
}

Verifier::~Verifier() {
  mailbox_.post([this] {
    taking_ = false;
    send_all_on();
    loop_.stop();
  });
  thread_.join();
}

void Verifier::configure(Configuration configuration) {
  mailbox_.post([this, configuration = std::move(configuration)] { configuration_ = configuration; });
}

void Verifier::set_taking(bool taking) {
  std::promise<void> done;
  mailbox_.post([&] {
    taking_ = taking;
    if (!taking) send_all_on();
    done.set_value();
  });
  done.get_future().wait();
}

OutcomeCounts Verifier::counts() const {
  OutcomeCounts counts{};
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = counts_[i].load(std::memory_order_relaxed);
  return counts;
}

void Verifier::on_ready(unsigned, Events) noexcept {
  if (queue_.read([this](const QueuedSyn& syn) { came(syn); })) return;
  environment_.log.error("the packet queue is broken: SYNs of accept = \"verified\" are accepted early");
  watch_.stop();
  send_all_on();
  queue_.close();
}

void Verifier::came(const QueuedSyn& syn) {
  if (!taking_) return settle(syn, SynVerdict::direct, SynOutcome::not_taking);
  if (!syn.packet) return settle(syn, SynVerdict::take, SynOutcome::early);
  if (repeats(syn)) return;
  const Flow& flow = syn.packet->flow;
  std::shared_ptr<const Decision> decision = decide(flow);
  if (!decision) return settle(syn, SynVerdict::take, SynOutcome::early);
  if (environment_.room.admit(flow.client.value.address) != Admission::Verdict::admitted)
    return settle(syn, SynVerdict::take, SynOutcome::over_limit);
  ask(syn, std::move(decision));
}

// Of two SYNs of one attempt the later is kept: the earlier may be gone, since the kernel drops what is
// queued when other rules are put in. Of a flow whose server has answered nothing needs to be asked.
bool Verifier::repeats(const QueuedSyn& syn) {
  const auto found = held_.find(syn.packet->flow);
  if (found == held_.end()) {
    const bool known = environment_.prepared.knows(syn.packet->flow, syn.packet->sequence);
    if (known) queue_.settle(syn, SynVerdict::take);
    return known;
  }
  Attempt& attempt = *found->second;
  if (attempt.syn.packet->sequence != syn.packet->sequence) {
    end(attempt, SynVerdict::drop, SynOutcome::client_gone);
    return false;
  }
  queue_.settle(attempt.syn, SynVerdict::drop);
  attempt.syn = syn;
  attempt.heard = loop_.now();
  return true;
}

std::shared_ptr<const Decision> Verifier::decide(const Flow& flow) const {
  const Policy* policy = configuration_.policies->decide(flow);
  if (!policy || !is_verified(*policy)) return nullptr;
  return {configuration_.policies, &policy->decision};
}

// The same calls as of a session's server leg. With fast open the SYN leaves without data: the client has
// said nothing yet.
void Verifier::ask(const QueuedSyn& syn, std::shared_ptr<const Decision> decision) {
  const Flow flow = syn.packet->flow;
  ServerLegSpec spec = server_leg_spec(Origin::tproxy, environment_.marks, flow, *decision);
  spec.storage = environment_.storage;
  carry_over(syn.packet->facts, decision->server_leg->settings, spec);
  const bool fast_open = decision->server_leg->settings.fast_open;
  auto made = std::make_unique<Attempt>(*this, syn, std::move(decision), loop_.now());
  Attempt& attempt = *made;
  held_.emplace(flow, std::move(made));
  held_count_.store(held_.size(), std::memory_order_relaxed);
  look_soon();
  Result<ServerLeg> leg = start_connecting(spec, failed_call_);
  if (!leg) return failed(attempt, leg.error().code);
  attempt.leg = std::move(*leg);
  if (fast_open)
    if (const int code = send_waiting_syn(attempt.leg.socket); code != 0) return failed(attempt, code);
  if (!attempt.watch.start(loop_, attempt.leg.socket, attempt, 0)) return failed(attempt, ENOMEM);
}

void Verifier::answered(Attempt& attempt, Events events) {
  if (!events.writable && !events.ending) return;
  const int code = events.broken ? pending_error(attempt.leg.socket) : 0;
  // Connected and reset before we looked (an attempt that fails is refused): that is an answer, and the bytes
  // before the reset are the client's. Its session sees by the hang-up that no end in order follows them.
  const bool was_connected = code == ECONNRESET || code == EPIPE;
  return code == 0 || was_connected ? answered(attempt) : failed(attempt, code);
}

// The leg waits before the verdict: the client may be accepted before that returns.
void Verifier::answered(Attempt& attempt) {
  attempt.watch.stop();
  environment_.prepared.put(attempt.flow(), attempt.syn.packet->sequence,
                            {std::move(attempt.leg), attempt.decision}, loop_.now() + kPatience);
  settle(attempt.syn, SynVerdict::take, SynOutcome::answered);
  forget(attempt);
}

void Verifier::failed(Attempt& attempt, int code) {
  if (is_ours(code)) return end(attempt, SynVerdict::take, SynOutcome::early);
  end(attempt, SynVerdict::direct, outcome_of(code));
}

// Its socket goes before the SYN does: the answer to that is for the client.
void Verifier::end(Attempt& attempt, SynVerdict verdict, SynOutcome outcome) {
  attempt.watch.stop();
  attempt.leg.socket.close();
  environment_.room.leave(attempt.flow().client.value.address);
  settle(attempt.syn, verdict, outcome);
  forget(attempt);
}

void Verifier::settle(const QueuedSyn& syn, SynVerdict verdict, SynOutcome outcome) {
  counts_[static_cast<std::size_t>(outcome)].fetch_add(1, std::memory_order_relaxed);
  queue_.settle(syn, verdict);
  if (!syn.packet || outcome == SynOutcome::answered || outcome == SynOutcome::over_limit) return;
  const Flow& flow = syn.packet->flow;
  environment_.log.debug("SYN " + print(flow.client.value) + " -> " + print(flow.destination.value) + ": " +
                         std::string{name(outcome)});
}

void Verifier::forget(Attempt& attempt) {
  const auto found = held_.find(attempt.flow());
  ended_.push_back(std::move(found->second));
  held_.erase(found);
  held_count_.store(held_.size(), std::memory_order_relaxed);
}

void Verifier::send_all_on() {
  while (!held_.empty()) end(*held_.begin()->second, SynVerdict::direct, SynOutcome::not_taking);
}

void Verifier::turn_ended(Instant now) noexcept {
  if (now >= look_at_) look(now);
  ended_.clear();
}

void Verifier::look_soon() {
  if (look_at_ == Instant::max()) look_at_ = loop_.now() + kLook;
}

void Verifier::look(Instant now) {
  const auto& patience = configuration_.timeouts.connect;
  std::vector<Attempt*> silent, gone;
  for (const auto& [flow, attempt] : held_) {
    if (patience && now - attempt->began >= *patience)
      silent.push_back(attempt.get());
    else if (attempt->client_is_gone(now))
      gone.push_back(attempt.get());
  }
  for (Attempt* attempt : silent) failed(*attempt, ETIMEDOUT);
  for (Attempt* attempt : gone) end(*attempt, SynVerdict::drop, SynOutcome::client_gone);
  const std::size_t unclaimed = environment_.prepared.expire(now);
  counts_[static_cast<std::size_t>(SynOutcome::unclaimed)].fetch_add(unclaimed, std::memory_order_relaxed);
  look_at_ = held_.empty() && environment_.prepared.empty() ? Instant::max() : now + kLook;
}

}  // namespace headrace
