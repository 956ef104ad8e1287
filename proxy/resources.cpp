// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/resources.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace headrace {
namespace {

// Idle pipes kept for the next bulk transfer; more than this many at once is a rush, not a habit.
constexpr std::size_t kIdlePipes = 64;
// After one could not be had, the next is not asked for with every read.
constexpr std::chrono::seconds kPipePause{1};

std::optional<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return std::nullopt;
  Pipe pipe{Fd{ends[0]}, Fd{ends[1]}};
  int size = ::fcntl(pipe.write_end.get(), F_SETPIPE_SZ, static_cast<int>(kPipeSize));
  if (size < 0) size = ::fcntl(pipe.write_end.get(), F_GETPIPE_SZ);
  if (size < static_cast<int>(kReadSize)) return std::nullopt;
  return pipe;
}

}  // namespace

std::optional<Pipe> WorkerResources::take_pipe() {
  if (pipes_out_ >= most_pipes_ || budget_.exhausted()) return std::nullopt;
  std::optional<Pipe> pipe;
  if (!idle_pipes_.empty()) {
    pipe = std::move(idle_pipes_.back());
    idle_pipes_.pop_back();
  } else {
    if (now < no_pipe_before_) return std::nullopt;
    pipe = make_pipe();
    if (!pipe) {
      no_pipe_before_ = now + kPipePause;
      return std::nullopt;
    }
  }
  ++pipes_out_;
  return pipe;
}

void WorkerResources::return_pipe(Pipe pipe) {
  --pipes_out_;
  if (idle_pipes_.size() < kIdlePipes) idle_pipes_.push_back(std::move(pipe));
}

void WorkerResources::lost_pipe() { --pipes_out_; }

}  // namespace headrace
