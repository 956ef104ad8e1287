// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "config/settings.hpp"
#include "policy/policy_table.hpp"
#include "proxy/admission.hpp"
#include "proxy/leg_storage.hpp"
#include "proxy/log.hpp"
#include "proxy/loop.hpp"
#include "proxy/mailbox.hpp"
#include "proxy/prepared_legs.hpp"
#include "proxy/socket.hpp"
#include "proxy/syn_outcome.hpp"
#include "proxy/syn_queue.hpp"

namespace headrace {

// Holds the SYN of a policy with accept = "verified" until its server has answered, and then lets it through:
// to a listener, where the worker that accepts it takes the server leg that was opened here, or to the server
// itself, which will say to the client what it said to us. Nothing is ever forged, no answer and no error.
//
// A thread of its own with its loop, so that neither a busy worker nor the main thread, which runs programs,
// keeps handshakes waiting. The public verbs are for any thread.
class Verifier final : public Watcher, public TurnHooks {
 public:
  struct Configuration {
    std::shared_ptr<const PolicyTable> policies;
    TimeoutSettings timeouts;
  };
  struct Environment {
    Log& log;
    PreparedLegs& prepared;
    Admission& room;  // for held SYNs and legs that wait
    MarkAndMask marks;
    const LegStorage* storage;  // nothing: no BPF
  };

  // Takes nothing until it is told to. Throws std::runtime_error when there is no such queue.
  Verifier(const Environment& environment, std::uint16_t queue, Configuration configuration);
  ~Verifier();  // what is held is sent on

  void configure(Configuration configuration);
  // False: what is held and what comes goes to the server itself, and does so when this returns. Then the
  // packet filter may stop bringing new flows: none is answered whose SYN it would forward.
  void set_taking(bool taking);

  std::size_t held() const { return held_count_.load(std::memory_order_relaxed); }
  OutcomeCounts counts() const;

 private:
  struct Attempt;
  using Held = std::map<Flow, std::unique_ptr<Attempt>>;

  void on_ready(unsigned tag, Events events) noexcept override;  // of the queue
  Instant next_deadline() noexcept override { return look_at_; }
  void turn_began(Instant) noexcept override {}
  void turn_ended(Instant now) noexcept override;

  void came(const QueuedSyn& syn);
  bool repeats(const QueuedSyn& syn);
  void ask(const QueuedSyn& syn, std::shared_ptr<const Decision> decision);
  std::shared_ptr<const Decision> decide(const Flow& flow) const;
  void answered(Attempt& attempt, Events events);
  void answered(Attempt& attempt);
  void failed(Attempt& attempt, int code);
  void end(Attempt& attempt, SynVerdict verdict, SynOutcome outcome);
  void settle(const QueuedSyn& syn, SynVerdict verdict, SynOutcome outcome);
  void forget(Attempt& attempt);
  void send_all_on();
  void look(Instant now);
  void look_soon();

  Environment environment_;
  Configuration configuration_;
  FailedCall failed_call_;
  SynQueue queue_;  // before its watch
  Loop loop_;
  Mailbox mailbox_;
  Watch watch_;
  bool taking_ = false;
  Held held_;
  std::vector<std::unique_ptr<Attempt>> ended_;  // until no event of this turn can name them
  Instant look_at_ = Instant::max();
  std::atomic<std::size_t> held_count_{0};
  std::array<std::atomic<std::uint64_t>, kSynOutcomes.size()> counts_{};
  std::thread thread_;
};

}  // namespace headrace
