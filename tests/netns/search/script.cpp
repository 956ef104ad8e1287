// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/search/script.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

namespace headrace {
namespace {

constexpr int kMostSteps = 12, kMostMarks = 2;
constexpr std::size_t kMostBytes = 300'000, kLongestPause = 4'000;  // us
constexpr std::size_t kBulk = 3'000'000;  // far into splicing, of which a pipe holds 256 KiB
constexpr std::size_t kMostReads = 400;   // of one end: slow, but no longer than a moment
constexpr int kSmallestBuffer = 8 * 1024;
constexpr int kTinyBuffer = 1;                // the kernel makes it some 2 KiB: less than two segments
constexpr std::size_t kMostForTiny = 20'000;  // bytes at once through such a window

// Not std::uniform_int_distribution: libraries differ in what they make of the same engine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_{seed} {}
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(engine_() % limit); }
  bool one_in(std::size_t count) { return below(count) == 0; }
  // From 1 to `most`, small numbers as often as large ones.
  std::size_t of_any_size(std::size_t most) {
    const double share = static_cast<double>(below(10'001)) / 10'000;
    return static_cast<std::size_t>(std::pow(static_cast<double>(most), share));
  }

 private:
  std::mt19937_64 engine_;
};

Step random_step(Dice& dice, int& marks) {
  if (dice.one_in(4)) return {Step::Kind::pause, dice.of_any_size(kLongestPause)};
  if (marks < kMostMarks && dice.one_in(6)) {
    ++marks;
    return {Step::Kind::urgent, 1};
  }
  return {Step::Kind::write, dice.of_any_size(dice.one_in(10) ? kBulk : kMostBytes)};
}

EndScript random_end(Dice& dice) {
  EndScript end;
  end.options.urgent_inline = true;
  end.options.nodelay = dice.one_in(2);
  if (dice.one_in(3)) end.options.receive_buffer = kSmallestBuffer * static_cast<int>(1 + dice.below(8));
  if (dice.one_in(10)) end.options.receive_buffer = kTinyBuffer;
  if (dice.one_in(3)) end.options.send_buffer = kSmallestBuffer * static_cast<int>(1 + dice.below(8));
  const std::size_t count = dice.below(kMostSteps);
  int marks = 0;
  for (std::size_t i = 0; i < count; ++i) end.steps.push_back(random_step(dice, marks));
  end.resets = dice.one_in(8);
  end.read_limit = 1 + dice.of_any_size(kMostBytes);
  end.reads_between_pauses = dice.one_in(2) ? 0 : static_cast<int>(1 + dice.below(8));
  return end;
}

std::size_t bytes_of(const EndScript& end) {
  std::size_t all = 0;
  for (const Step& step : end.steps)
    if (step.kind != Step::Kind::pause) all += step.amount;
  return all;
}

void spare_tiny_reader(EndScript& writer, const EndScript& reader) {
  if (reader.options.receive_buffer != kTinyBuffer) return;
  for (Step& step : writer.steps)
    if (step.kind == Step::Kind::write) step.amount = std::min(step.amount, kMostForTiny);
}

void print(std::ostream& out, const char* who, const EndScript& end) {
  out << who << ":";
  for (const Step& step : end.steps)
    out << (step.kind == Step::Kind::write    ? " w"
            : step.kind == Step::Kind::urgent ? " !"
                                              : " p")
        << step.amount;
  out << (end.resets ? " reset" : " end") << ", reads " << end.read_limit << "/" << end.reads_between_pauses
      << ", buffers " << end.options.receive_buffer.value_or(0) << "/" << end.options.send_buffer.value_or(0)
      << (end.options.nodelay ? ", nodelay\n" : "\n");
}

}  // namespace

Script random_script(std::uint64_t seed) {
  Dice dice{seed};
  EndScript client = random_end(dice);
  EndScript server = random_end(dice);
  if (dice.one_in(12)) client.resets = server.resets = true;
  spare_tiny_reader(client, server);
  spare_tiny_reader(server, client);
  client.read_limit = std::max(client.read_limit, bytes_of(server) / kMostReads);
  server.read_limit = std::max(server.read_limit, bytes_of(client) / kMostReads);
  return {seed, std::move(client), std::move(server)};
}

std::string print(const Script& script) {
  std::ostringstream out;
  out << "seed " << script.seed << "\n";
  print(out, "client", script.client);
  print(out, "server", script.server);
  return out.str();
}

}  // namespace headrace
