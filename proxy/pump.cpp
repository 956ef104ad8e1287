// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/pump.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "proxy/socket.hpp"

namespace headrace {
namespace {

// A direction is bulk once it has moved this much without the other direction speaking, in reads of at
// least kBulkRead. Below, splice costs more than it saves (2 extra calls a message); a link so slow that
// reads stay small gains nothing from it either.
constexpr std::uint64_t kBulkThreshold = 256 * 1024;
constexpr std::size_t kBulkRead = 16 * 1024;
// Full segments stream in once a direction has moved this much without the other one speaking: more than an
// answer of ten segments, and on a slow link, where each segment is a wake-up, long before bulk.
constexpr std::uint64_t kStreamThreshold = 32 * 1024;
// A wake-up that brought less than a segment of the smallest MSS in use (536 without options) ended a burst.
constexpr std::uint64_t kFullSegment = 500;
// Bulk is over when a wake-up brought less than this.
constexpr std::uint64_t kBulkTrickle = 8 * 1024;
// Reads in one run before other sessions get their turn.
constexpr int kFairShare = 16;
// While full segments stream in, the kernel acknowledges every second one by itself. Only when the stream
// pauses this long is a delayed ACK worth sending: well before its timer (40 ms at the least), late
// enough to leave a stream with gaps of up to 10 ms alone.
constexpr std::chrono::milliseconds kAckGuard{10};
// What the kernel says of a reset that came when the end had come already (tcp_reset in CLOSE_WAIT): the end
// is true, and passes before the reset does. Any other reset forbids to take recv()'s 0 for an end.
constexpr int kResetBehindEnd = EPIPE;
// How far the urgent pointer reaches (16 bits): a mark that is further from the first unacknowledged byte is
// told to nobody (tcp_transmit_skb, tcp_write_wakeup), on a direct connection neither.
constexpr std::size_t kMarkReach = 65'535;

}  // namespace

void Leg::note(Events events) {
  readable |= events.readable;
  writable |= events.writable;
  urgent |= events.urgent;
  ending |= events.ending;
  hung_up |= events.broken;
  is_fresh |= events.readable;
}

void Leg::break_with(int code) {
  if (broken == 0) broken = code;
  readable = ending = true;
}

Pump::Pump(Leg& from, Leg& to, const PumpSettings& settings) : from_{from}, to_{to}, settings_{settings} {
  if (settings.pace) pacer_ = std::make_unique<Pacer>(*settings.pace, settings.burst);
}

std::uint64_t Pump::run(WorkerResources& resources) {
  std::uint64_t moved = 0;
  notice_hang_up();
  for (int share = kFairShare; share > 0 && phase_ != Phase::finished && phase_ != Phase::cut; --share) {
    if (!flush(resources) && !flush_to_mark(resources)) break;
    if (phase_ == Phase::ending && to_.writable) pass_end();
    if (phase_ != Phase::flowing || !from_.readable) break;
    const std::size_t most = allowance(resources.now);
    if (most == 0) break;
    const std::uint64_t before = since_drained_;
    const bool go_on = pipe_ ? splice_once(resources, most) : copy_once(resources, most);
    if (pacer_) pacer_->spend(since_drained_ - before);
    moved += since_drained_ - before;
    if (!from_.readable) source_drained(resources);
    if (!go_on && !is_holding() && phase_ == Phase::flowing) break;
  }
  return moved;
}

bool Pump::has_more() const {
  if (to_.broken != 0 || phase_ == Phase::finished || phase_ == Phase::cut) return false;
  if (is_holding() || phase_ == Phase::ending) return to_.writable;  // else the edge of `to` wakes us
  return from_.readable && paced_until_ == Instant::max();
}

// Bytes that may be read now; 0: not before paced_until_.
std::size_t Pump::allowance(Instant now) {
  if (!pacer_) return SIZE_MAX;
  if (const std::size_t most = pacer_->allowance(now); most > 0) return most;
  paced_until_ = pacer_->ready_at(now);
  return 0;
}

bool Pump::copy_once(WorkerResources& resources, std::size_t most) {
  const auto scratch = resources.scratch();
  // A first read after an edge stops before a mark that came meanwhile; a second would run across it. It may
  // also find nothing to read, and a mark that comes only now would then stand where it begins.
  if (!from_.is_fresh && !from_.ending && unread(from_.socket) == 0) {
    source_failed(resources, EAGAIN);
    return false;
  }
  const bool mark = (from_.urgent || !from_.is_fresh) && at_urgent_mark(from_.socket);
  from_.is_fresh = false;
  const std::size_t room = mark ? 1 : std::min(scratch.size(), most);
  const ssize_t count = ::recv(from_.socket.get(), scratch.data(), room, 0);
  if (count < 0) {
    source_failed(resources, errno);
    return false;
  }
  if (count == 0) {
    if (pass_rest(resources)) return true;  // and the end is read again
    if (from_.broken != 0 && from_.broken != kResetBehindEnd)
      cut();
    else
      phase_ = Phase::ending;
    return true;
  }
  const auto size = static_cast<std::size_t>(count);
  // A short read is the end of what is there, unless it stopped before a mark or an end stands behind it.
  const bool drained = size < room && !from_.urgent;
  if (mark) from_.urgent = false;
  if (drained && !from_.ending) from_.readable = false;
  since_drained_ += size;
  pass_on(resources, scratch.first(size), mark, !drained && !mark);
  consider_bulk(resources, size);
  return from_.readable;
}

bool Pump::splice_once(WorkerResources& resources, std::size_t most) {
  const ssize_t count = ::splice(from_.socket.get(), nullptr, pipe_->write_end.get(), nullptr,
                                 std::min(kPipeSize, most), SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
  if (count > 0) {
    from_.is_fresh = false;  // a mark may stand right behind these, and the next read may be a copy
    in_pipe_ += static_cast<std::size_t>(count);
    since_drained_ += static_cast<std::uint64_t>(count);
    resources.budget().take(static_cast<std::size_t>(count));
    if (settings_.quickack == QuickAck::always) acknowledge_now(from_.socket);
    return true;
  }
  // The error is told once: after it a copy would read an end.
  if (count < 0 && errno != EAGAIN && errno != ENOMEM) from_.break_with(errno);
  // At a mark splice says EAGAIN for ever, and 0 need not be the end: a copy tells which it is.
  const bool drained = count < 0 && errno == EAGAIN && !from_.urgent && !from_.ending;
  if (!drained) {
    leave_bulk(resources);
    return true;
  }
  from_.readable = false;
  return false;
}

void Pump::pass_on(WorkerResources& resources, std::span<const std::byte> bytes, bool mark, bool more) {
  if (tap_) bytes = tap_->pass(bytes, mark);
  if (!bytes.empty()) send_now(resources, bytes.data(), bytes.size(), mark, more);
}

bool Pump::pass_rest(WorkerResources& resources) {
  if (!tap_) return false;
  const auto rest = tap_->end();
  if (rest.empty()) return false;
  send_now(resources, rest.data(), rest.size(), false, false);
  return true;
}

void Pump::send_now(WorkerResources& resources, const std::byte* data, std::size_t size, bool mark,
                    bool more) {
  const bool wait = settings_.cork.mode == Cork::Mode::hold && !mark;
  const bool batch = (more && settings_.cork.mode != Cork::Mode::off) || wait;
  const int flags = MSG_NOSIGNAL | (mark ? MSG_OOB : 0) | (batch ? MSG_MORE : 0);
  if (wait && hold_until_ == Instant::max()) {
    hold_until_ = resources.now + settings_.cork.time;
    cork(to_.socket);  // MSG_MORE holds only until the next ACK
  }
  burst_is_held_ = batch;
  ssize_t sent = ::send(to_.socket.get(), data, size, flags);
  if (sent < 0) {
    if (errno != EAGAIN) return destination_failed(errno);
    sent = 0;
  }
  if (mark && hold_until_ != Instant::max()) push_burst();
  const auto taken = static_cast<std::size_t>(sent);
  if (taken < size) hold(resources, data + taken, size - taken, mark);
}

void Pump::hold(WorkerResources& resources, const std::byte* data, std::size_t size, bool mark) {
  held_.assign(data, data + size);
  held_sent_ = 0;
  held_ends_with_mark_ = mark;
  to_.writable = false;
  resources.budget().take(size);
}

bool Pump::flush(WorkerResources& resources) {
  if (!is_holding()) return true;
  if (to_.broken != 0) {
    phase_ = Phase::cut;
    return false;
  }
  if (!to_.writable) return false;
  if (!held_.empty()) return flush_held(resources);
  const std::size_t before = in_pipe_;
  const bool empty = flush_pipe();
  resources.budget().give(before - in_pipe_);
  return empty;
}

// A mark waits behind bytes that `to` has no room for. On a direct connection it would be in the sender's
// queue, and the kernel tells of it through a closed window (SIGURG): so it is brought as far, with a send
// buffer enlarged within bounds. True when nothing is held any more.
bool Pump::flush_to_mark(WorkerResources& resources) {
  const bool mark_waits = from_.urgent || (held_ends_with_mark_ && !held_.empty());
  if (!mark_waits || !is_holding() || to_.broken != 0 || to_.writable) return false;
  const std::size_t ahead = unacknowledged(to_.socket) + (held_.size() - held_sent_) + in_pipe_;
  if (ahead > kMarkReach) return false;
  const MoreRoom room{to_.socket, 2 * kMarkReach};
  to_.writable = true;
  return flush(resources);
}

bool Pump::flush_held(WorkerResources& resources) {
  while (held_sent_ < held_.size()) {
    const std::size_t rest = held_.size() - held_sent_;
    const int flags = MSG_NOSIGNAL | (held_ends_with_mark_ ? MSG_OOB : 0);
    const ssize_t sent = ::send(to_.socket.get(), held_.data() + held_sent_, rest, flags);
    if (sent < 0) {
      to_.writable = false;
      if (errno != EAGAIN) destination_failed(errno);
      return false;
    }
    held_sent_ += static_cast<std::size_t>(sent);
  }
  resources.budget().give(held_.size());
  held_ = {};  // an idle session owns no buffer
  burst_is_held_ = false;
  return true;
}

// Not SPLICE_F_MORE while more may follow: each pause of the source then costs a push, and bulk took a third
// more CPU a byte (6 turns). Nor splices or pipes of 1 MiB: within the noise of 256 KiB.
bool Pump::flush_pipe() {
  while (in_pipe_ > 0) {
    const ssize_t sent = ::splice(pipe_->read_end.get(), nullptr, to_.socket.get(), nullptr, in_pipe_,
                                  SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
    if (sent < 0) {
      to_.writable = false;
      if (errno != EAGAIN) destination_failed(errno);
      return false;
    }
    in_pipe_ -= static_cast<std::size_t>(sent);
  }
  return true;
}

// A leg that hangs up before it was given its end was reset. Where nothing is read from it now (its end was
// read already, or its bytes are held back), no read would ever tell.
void Pump::notice_hang_up() {
  if (!to_.hung_up || to_.broken != 0) return;
  const int code = pending_error(to_.socket);
  if (code == 0 && phase_ == Phase::finished) return;  // both ends have passed: the normal close
  to_.break_with(code != 0 ? code : ECONNRESET);
}

void Pump::source_failed(WorkerResources& resources, int code) {
  if (code == EAGAIN) {
    from_.readable = from_.urgent = false;
    return;
  }
  from_.break_with(code);
  if (!pass_rest(resources)) cut();  // else the next read says that it is over
}

// Nothing more can come: what is on its way leaves now, not when the kernel tires of waiting for more.
void Pump::cut() {
  phase_ = Phase::cut;
  if (burst_is_held_) push_burst();
}

void Pump::destination_failed(int code) {
  to_.break_with(code);
  phase_ = Phase::cut;
}

// Nothing more can be read now: the burst is over, its last bytes leave and its ACK with them.
void Pump::source_drained(WorkerResources& resources) {
  const bool bulk = pipe_.has_value();
  const bool streams = bulk || (streak_ >= kStreamThreshold && since_drained_ >= kFullSegment);
  if (burst_is_held_ && hold_until_ == Instant::max()) push_burst();
  if (since_drained_ > 0) {
    if (settings_.quickack == QuickAck::always || (settings_.quickack == QuickAck::automatic && !streams))
      acknowledge_now(from_.socket);
    else if (settings_.quickack == QuickAck::automatic)
      guard_until_ = resources.now + kAckGuard;
  }
  if (bulk && since_drained_ < kBulkTrickle && in_pipe_ == 0) leave_bulk(resources);
  since_drained_ = 0;
}

void Pump::consider_bulk(WorkerResources& resources, std::size_t read) {
  streak_ += read;
  if (streak_ < kBulkThreshold || read < kBulkRead || is_holding() || from_.urgent) return;
  if (settings_.cork.mode == Cork::Mode::hold || tap_) return;
  pipe_ = resources.take_pipe();
}

void Pump::leave_bulk(WorkerResources& resources) {
  HEADRACE_INVARIANT(in_pipe_ == 0);
  resources.return_pipe(std::move(*pipe_));
  pipe_.reset();
  streak_ = 0;
}

void Pump::other_direction_spoke(WorkerResources& resources) {
  streak_ = 0;
  if (pipe_ && in_pipe_ == 0) leave_bulk(resources);
}

void Pump::pass_end() {
  // A FIN in SYN_SENT (fast open, data already on its way) would take the connection down instead.
  if (to_.may_be_connecting && is_connecting(to_.socket)) {
    to_.writable = false;
    return;
  }
  const Result<bool> passed = finish_writing(to_.socket);
  if (!passed) return destination_failed(passed.error().code);
  burst_is_held_ = false;
  hold_until_ = Instant::max();
  guard_until_ = Instant::max();
  phase_ = Phase::finished;
}

void Pump::push_burst() {
  push(to_.socket);
  burst_is_held_ = false;
  hold_until_ = Instant::max();
}

void Pump::tick(Instant now) {
  if (paced_until_ <= now) paced_until_ = Instant::max();
  if (hold_until_ <= now) push_burst();
  if (guard_until_ <= now) {
    acknowledge_now(from_.socket);
    guard_until_ = Instant::max();
  }
}

void Pump::release(WorkerResources& resources) {
  resources.budget().give(held_.size() + in_pipe_);
  held_ = {};
  if (!pipe_) return;
  if (in_pipe_ == 0) {
    leave_bulk(resources);
  } else {
    resources.lost_pipe();
    pipe_.reset();
    in_pipe_ = 0;
  }
}

}  // namespace headrace
