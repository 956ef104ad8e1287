// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/matrix/stage.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <future>
#include <thread>
#include <vector>

namespace headrace {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 10s;
constexpr auto kBlocked = 300ms;  // nothing was taken for so long: the window is closed
constexpr auto kNothingComes = 300ms;
constexpr std::size_t kWords = 20'000, kBulk = 4'000'000, kChunk = 16'000;

// Of the actor, up to the act.
struct Written {
  std::string bytes;
  std::size_t acknowledged = 0;
};

struct Heard {
  std::string bytes;
  std::vector<std::size_t> marks;  // offsets
  lab::End end = lab::End::other;
};

// recv(2) stops before a mark and the next one crosses it: at a mark it reads one byte.
Heard hear(const lab::Socket& socket) {
  Heard heard;
  while (socket.wait_for_data(kPatience)) {
    const bool mark = socket.at_mark();
    const auto some = socket.receive_some(mark ? 1 : 64 * 1024, kPatience);
    if (some.end != lab::End::done) {
      heard.end = some.end;
      return heard;
    }
    if (mark) heard.marks.push_back(heard.bytes.size());
    heard.bytes += some.bytes;
  }
  heard.end = lab::End::timed_out;
  return heard;
}

// Writes until the window has been closed for a moment.
std::string fill(const lab::Socket& socket) {
  std::string written;
  const std::string chunk = lab::pattern(kChunk);
  while (lab::wait_for(socket.descriptor(), POLLOUT, lab::Deadline{kBlocked}))
    written += chunk.substr(0, socket.send_some(chunk));
  return written;
}

bool has(short events, const lab::Socket& socket, std::chrono::nanoseconds timeout) {
  pollfd watched{socket.descriptor(), events, 0};
  return ::poll(&watched, 1, static_cast<int>(timeout / 1ms)) == 1;
}

// How a write fails, now or as soon as the answer to it has come; `done`: it does not.
lab::End fails_to_write(const lab::Socket& socket) {
  const auto end = socket.send_all("x");
  if (end != lab::End::done || !has(0, socket, kNothingComes)) return end;
  return socket.send_all("x");
}

// Its only descriptor goes to another process, which is killed.
void kill_owner(lab::Socket& socket) {
  const pid_t owner = lab::checked(::fork(), "fork");
  if (owner == 0)
    for (;;) ::pause();
  socket.close();
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
}

void act_now(Act act, lab::Socket& actor, const lab::Socket& other) {
  switch (act) {
    case Act::finish:
      return actor.shutdown_write();
    case Act::close:
    case Act::close_unread:
      return actor.close();
    case Act::reset:
      return actor.reset();
    case Act::killed:
      return kill_owner(actor);
    case Act::finish_then_reset:
      actor.shutdown_write();
      return actor.reset();
    case Act::urgent_then_close:
      actor.send_urgent('!');
      return actor.close();
    case Act::finish_both: {
      const std::jthread at_the_same_moment{[&] { other.shutdown_write(); }};
      return actor.shutdown_write();
    }
  }
}

bool goes_on(Act act) { return act == Act::finish || act == Act::finish_both; }

// Says its last words, or as many as are taken, and lets them arrive.
Written speak(const lab::Socket& actor, const lab::Socket& other, State state) {
  Written written;
  if (state == State::full || state == State::stuck) {
    written.bytes = fill(actor);
  } else {
    written.bytes = lab::pattern(kWords);
    actor.send_all(written.bytes);
    if (state == State::urgent) {
      actor.send_urgent('!');
      written.bytes += '!';
      static_cast<void>(other.wait_for_urgent(kPatience));
    }
    const lab::Deadline deadline{kPatience};
    while (actor.unacknowledged() > 0 && !deadline.passed()) ::poll(nullptr, 0, 1);
  }
  written.acknowledged = written.bytes.size() - actor.unacknowledged();
  return written;
}

std::string how_much(const Written& written, const std::string& heard) {
  if (!written.bytes.starts_with(heard)) return "WRONG";
  if (heard.size() == written.bytes.size()) return "all";
  return heard.size() >= written.acknowledged ? "all acknowledged" : "LOST";
}

std::string print(const Written& written, const Heard& heard) {
  std::string text = how_much(written, heard.bytes);
  for (const std::size_t mark : heard.marks)
    text += mark + 1 == written.bytes.size() ? ", mark at the last" : ", MARK ELSEWHERE";
  return text + ", " + lab::to_text(heard.end);
}

// The other direction of a connection that one end has finished.
std::string answer(const lab::Socket& actor, const lab::Socket& other) {
  other.send_all("late answer");
  other.shutdown_write();
  const auto heard = actor.receive_to_end();
  return (heard.bytes == "late answer" ? ", answers, " : ", ANSWER LOST, ") +
         std::string{lab::to_text(heard.end)};
}

std::string seen_by_reader(lab::Socket& actor, const lab::Socket& other, Act act, State state) {
  if (act == Act::close_unread) other.send_all("not read");
  if (state == State::half_closed) {
    other.shutdown_write();
    if (act != Act::close_unread) static_cast<void>(actor.receive_to_end());
  }
  if (act == Act::close_unread) static_cast<void>(actor.wait_for_data(kPatience));
  std::future<Heard> early;
  if (state == State::reading) early = std::async(std::launch::async, [&] { return hear(other); });
  Written written = speak(actor, other, state);
  if (act == Act::urgent_then_close) written.bytes += '!';
  act_now(act, actor, other);
  if (state != State::full) static_cast<void>(has(POLLRDHUP, other, kPatience));
  const Heard heard = early.valid() ? early.get() : hear(other);
  std::string text = print(written, heard);
  if (act == Act::finish_both) return text + "; actor: " + lab::to_text(actor.receive_to_end().end);
  if (state == State::half_closed) return text;
  if (act == Act::finish) return text + answer(actor, other);
  return text + ", then " + lab::to_text(fails_to_write(other));
}

// Which error a writer gets depends on what was under way; that it gets one does not.
std::string how_writing_ended(lab::End end) {
  return end == lab::End::reset || end == lab::End::broken_pipe ? "cut" : lab::to_text(end);
}

std::string seen_by_writer(lab::Socket& actor, const lab::Socket& other, Act act, State state) {
  Written written;
  if (state == State::stuck) written = speak(actor, other, state);
  const std::string before = state == State::writing ? "" : fill(other);
  const std::string bulk = lab::pattern(kBulk);
  auto writing = std::async(std::launch::async, [&] { return other.send_all(bulk, kPatience); });
  std::size_t read = 0;
  if (state == State::writing) read = actor.receive_exactly(kBulk / 16).bytes.size();
  act_now(act, actor, other);
  std::string late;
  if (goes_on(act))
    read += actor.receive_exactly(before.size() + bulk.size() - read).bytes.size();
  else if (state == State::stuck && writing.wait_for(1s) != std::future_status::ready)
    late = how_much(written, hear(other).bytes) + ", ";  // the reader or the writer is told of the reset
  const lab::End end = writing.get();
  if (goes_on(act)) return read == before.size() + bulk.size() ? lab::to_text(end) : "LOST";
  return late + how_writing_ended(end);
}

}  // namespace

const char* to_text(Act act) {
  constexpr std::array kNames{"finishes",
                              "closes",
                              "closes with unread input",
                              "resets",
                              "is killed",
                              "finishes, then resets",
                              "sends an urgent byte and closes",
                              "finishes as the other does"};
  static_assert(kNames.size() == kActs.size());
  return kNames[static_cast<std::size_t>(act)];
}

const char* to_text(State state) {
  constexpr std::array kNames{"reading", "idle",    "full",    "half-closed",
                              "urgent",  "writing", "blocked", "stuck"};
  static_assert(kNames.size() == kStates.size());
  return kNames[static_cast<std::size_t>(state)];
}

bool is_possible(Act act, State state) {
  const bool is_writer = state == State::writing || state == State::blocked || state == State::stuck;
  if (act == Act::finish_both) return state != State::half_closed && !is_writer;
  if (act == Act::urgent_then_close) return state != State::full && !is_writer;  // it would block
  if (act == Act::close) return !is_writer;
  if (act == Act::finish) return state != State::stuck;
  return true;
}

std::string seen(lab::Socket actor, lab::Socket other, Act act, State state) {
  const bool is_writer = state == State::writing || state == State::blocked || state == State::stuck;
  return is_writer ? seen_by_writer(actor, other, act, state) : seen_by_reader(actor, other, act, state);
}

}  // namespace headrace
