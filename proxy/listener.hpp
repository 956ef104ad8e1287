// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "config/settings.hpp"
#include "policy/policy_table.hpp"
#include "proxy/expected_data.hpp"
#include "proxy/fd.hpp"
#include "proxy/loop.hpp"
#include "proxy/origin.hpp"
#include "proxy/result.hpp"
#include "proxy/socket.hpp"
#include "proxy/spare_descriptors.hpp"

namespace headrace {

Origin origin_of(InterceptMode mode);

struct ListenerPlan {
  Origin origin = Origin::tproxy;
  Endpoint at;
  SharedTreatment treatment;                         // what is fixed before the SYN-ACK
  std::optional<Endpoint> forward_to;                // forward only
  std::shared_ptr<const Decision> forward_decision;  // forward only
  std::shared_ptr<const ExpectedData> data;          // forward, for one announced data connection alone

  ListenerSpec spec(const LegStorage* storage) const {
    return {at, origin == Origin::tproxy, treatment, storage};
  }
};

struct OpenListener {
  ListenerPlan plan;
  Fd socket;
};

// Where an accepted connection was going, or nothing when it was made straight to the listener (or to this
// host) and must not be relayed: relaying it would make us an open relay, or a loop.
std::optional<OriginalDestination> original_destination(const ListenerPlan& plan, const Fd& accepted);

// The server leg of a flow that came so: where to, as whom, with which mark. What the client's SYN carries
// over and where first windows are kept is for whoever has the connection to add.
ServerLegSpec server_leg_spec(Origin origin, const MarkAndMask& marks, const Flow& flow,
                              const Decision& decision);

// What the client's SYN asked for and the server's shall hear as well.
void carry_over(const SynFacts& syn, const Profile& server_leg, ServerLegSpec& spec);

// A connection has come, or there was no descriptor for it.
class Acceptor {
 public:
  virtual void accepted(const ListenerPlan& plan, Accepted connection) = 0;
  virtual void connection_shed() = 0;
  // A listener can neither take what is in its queue nor shed it, and watches it no more: resume() it soon.
  virtual void listener_waits() = 0;

 protected:
  ~Acceptor() = default;
};

// One listening socket in a worker's loop: accepts, a fair share at a time. Owns the socket; on its
// worker's thread. Without descriptors it gives up a spare one, so that the queue is emptied (the client
// sees a reset at once, not a connection that nobody answers). Borrows the spares.
class Listener final : public Watcher {
 public:
  Listener(Loop& loop, Acceptor& acceptor, OpenListener listener, SpareDescriptors& spares);
  void on_ready(unsigned tag, Events events) noexcept override;
  const ListenerPlan& plan() const { return listener_.plan; }
  bool is_watched() const { return watched_; }
  void resume();  // watching, after listener_waits()
  // Takes what is in the queue; for the moment before it closes.
  void accept_all() noexcept;

 private:
  bool accept_next();
  bool shed();

  Loop& loop_;
  Acceptor& acceptor_;
  OpenListener listener_;
  SpareDescriptors& spares_;
  Watch watch_;
  bool watched_ = false;
  int share_ = 1;  // connections that it takes in a turn
  int turns_ = 0;  // since it last looked for a second
};

}  // namespace headrace
