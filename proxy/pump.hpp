// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "policy/profile.hpp"
#include "proxy/fd.hpp"
#include "proxy/loop.hpp"
#include "proxy/pacer.hpp"
#include "proxy/resources.hpp"
#include "proxy/stream_tap.hpp"

namespace headrace {

// One connection of a session as its pumps see it: the descriptor and what the kernel last said of it.
// A leg that was reset stays reset, whatever later calls return: after ECONNRESET recv() may report an
// end of stream that never was (kernel-facts, "Reset").
struct Leg {
  Fd socket;
  bool readable = false;           // cleared by a read that found less than it asked for
  bool writable = false;           // cleared by a write that took less than it was given
  bool urgent = false;             // a mark may wait in what is still to be read
  bool ending = false;             // an end or a reset has arrived behind what is still to be read
  bool hung_up = false;            // both directions are over: by a reset, unless we had passed on an end
  bool is_fresh = false;           // `urgent` is as of now: nothing was read since the kernel said so
  bool may_be_connecting = false;  // fast open: writable before the handshake is over
  int broken = 0;                  // errno of the reset or time-out, once

  void note(Events events);
  // The first reason stands. What came before the reset can still be read, without a further event.
  void break_with(int code);
};

// What the policy says of one direction.
struct PumpSettings {
  QuickAck quickack = QuickAck::automatic;  // of the leg that is read
  Cork cork;                                // of the leg that is written
  std::optional<BitRate> pace;              // of the leg that is written, with the burst that goes before it
  Bytes burst;
};

// One direction of a session: moves bytes from one leg to the other, in order, urgent marks in place, and
// the end of the stream after the last of them. Borrows both legs, owns only what it holds back (a buffer
// or a pipe with bytes inside). Lives on its worker's thread. Knows no policy, no loop, no clock.
class Pump {
 public:
  enum class Phase : std::uint8_t {
    flowing,
    ending,    // the end was read; held bytes go first
    finished,  // the end was passed on
    cut,       // a leg is broken and nothing more can be read or written
  };

  Pump(Leg& from, Leg& to, const PumpSettings& settings);

  // What the bytes of `to` look like on the wire; before the first run().
  void set_shape(SegmentShape shape) {
    if (pacer_) pacer_->set_shape(shape);
  }

  // From now on `tap`, which outlives this, sees every byte between read and write: nothing is spliced.
  void set_tap(StreamTap& tap) { tap_ = &tap; }

  // Moves what can be moved now, a fair share at most; never blocks. Returns the bytes read.
  // Broken legs are noted in the legs themselves.
  std::uint64_t run(WorkerResources& resources);
  // True when run() stopped for fairness and has more to do without a new event.
  bool has_more() const;
  // The other direction has spoken: this is an exchange, not a bulk transfer.
  void other_direction_spoke(WorkerResources& resources);

  // When something is to be done without an event: a held-back end of burst, an ACK that must not wait.
  Instant next_deadline() const { return std::min({hold_until_, guard_until_, paced_until_}); }
  void tick(Instant now);

  Phase phase() const { return phase_; }
  bool is_holding() const { return !held_.empty() || in_pipe_ > 0; }
  // Gives back pipe and budget. Call once, before the pump goes.
  void release(WorkerResources& resources);

 private:
  bool flush(WorkerResources& resources);  // true when nothing is held any more
  bool flush_held(WorkerResources& resources);
  bool flush_pipe();
  // At most `most` bytes, as the pace allows.
  bool copy_once(WorkerResources& resources, std::size_t most);
  bool splice_once(WorkerResources& resources, std::size_t most);
  std::size_t allowance(Instant now);
  void pass_on(WorkerResources& resources, std::span<const std::byte> bytes, bool mark, bool more);
  // What the tap kept back of a stream that is over; true when there was something.
  bool pass_rest(WorkerResources& resources);
  void send_now(WorkerResources& resources, const std::byte* data, std::size_t size, bool mark, bool more);
  void hold(WorkerResources& resources, const std::byte* data, std::size_t size, bool mark);
  bool flush_to_mark(WorkerResources& resources);
  void notice_hang_up();
  void source_failed(WorkerResources& resources, int code);
  void cut();
  void destination_failed(int code);
  void source_drained(WorkerResources& resources);
  void consider_bulk(WorkerResources& resources, std::size_t read);
  void leave_bulk(WorkerResources& resources);
  void pass_end();
  void push_burst();

  Leg& from_;
  Leg& to_;
  PumpSettings settings_;
  StreamTap* tap_ = nullptr;
  Phase phase_ = Phase::flowing;
  bool held_ends_with_mark_ = false;
  bool burst_is_held_ = false;  // the last bytes went with MSG_MORE
  std::vector<std::byte> held_;
  std::size_t held_sent_ = 0;
  std::optional<Pipe> pipe_;  // present: bulk, by splice
  std::size_t in_pipe_ = 0;
  std::uint64_t streak_ = 0;  // bytes since the other direction spoke
  std::uint64_t since_drained_ = 0;
  Instant hold_until_ = Instant::max();
  Instant guard_until_ = Instant::max();
  Instant paced_until_ = Instant::max();
  std::unique_ptr<Pacer> pacer_;  // only where the policy paces
};

}  // namespace headrace
