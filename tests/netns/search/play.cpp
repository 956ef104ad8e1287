// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/search/play.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <ctime>
#include <thread>

namespace headrace {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 30s;
constexpr auto kReadersPause = 500us;

// Part of what an end does: the other one is to find it idle.
void pause(std::chrono::microseconds time) {
  const timespec wait{time / 1s, (time % 1s) / 1ns};
  ::ppoll(nullptr, 0, &wait, nullptr);
}

// A reset from a socket that other threads still read from: closing it would give its number away.
void reset(const lab::Socket& socket) {
  sockaddr nowhere{};
  nowhere.sa_family = AF_UNSPEC;
  ::connect(socket.descriptor(), &nowhere, sizeof nowhere);
}

lab::End write_step(const Step& step, const lab::Socket& socket, const std::string& bytes, Heard& end) {
  switch (step.kind) {
    case Step::Kind::pause:
      pause(std::chrono::microseconds{step.amount});
      return lab::End::done;
    case Step::Kind::urgent:
      end.written_marks.push_back(end.written.size());
      end.written += '!';
      try {
        socket.send_urgent('!', kPatience);
      } catch (const std::system_error& error) {
        return lab::end_of_errno(error.code().value());
      }
      return lab::End::done;
    case Step::Kind::write:
      end.written += bytes;
      return socket.send_all(bytes, kPatience);
  }
  return lab::End::other;
}

void write(const EndScript& script, std::uint64_t seed, const lab::Socket& socket, Heard& end) {
  for (const Step& step : script.steps) {
    end.writing = write_step(step, socket, lab::pattern(step.amount, seed++), end);
    if (end.writing != lab::End::done) return;
  }
  if (script.resets)
    reset(socket);
  else if (::shutdown(socket.descriptor(), SHUT_WR) != 0)
    end.writing = lab::End::reset;  // ENOTCONN: the other end was faster
}

// recv(2) stops before a mark, and the next one crosses it: so at a mark it reads one byte, and looks for
// marks only when there is something to read.
void hear(const EndScript& script, const lab::Socket& socket, Heard& end) {
  for (int reads = 1; socket.wait_for_data(kPatience); ++reads) {
    const bool mark = socket.at_mark();
    const auto some = socket.receive_some(mark ? 1 : script.read_limit, kPatience);
    if (some.end != lab::End::done) {
      end.hearing = some.end;
      return;
    }
    if (mark) end.heard_marks.push_back(end.heard.size());
    end.heard += some.bytes;
    if (script.reads_between_pauses != 0 && reads % script.reads_between_pauses == 0) pause(kReadersPause);
  }
  end.hearing = lab::End::timed_out;
}

}  // namespace

Played play(const Script& script, const lab::Socket& client, const lab::Socket& server) {
  Played played;
  const std::uint64_t seed = script.seed * 1000;
  std::vector<std::jthread> threads;
  threads.emplace_back([&] { write(script.client, seed, client, played.client); });
  threads.emplace_back([&] { write(script.server, seed + 500, server, played.server); });
  threads.emplace_back([&] { hear(script.client, client, played.client); });
  threads.emplace_back([&] { hear(script.server, server, played.server); });
  threads.clear();
  return played;
}

}  // namespace headrace
