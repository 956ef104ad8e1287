// SPDX-License-Identifier: GPL-3.0-or-later
// Every way to end, of each end, in every state of the other: through headrace the other sees what it sees on
// a direct connection, but for the rows of kSplit, which say why that cannot be.
#include <algorithm>
#include <iterator>

#include "tests/netns/matrix/stage.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;

namespace {

constexpr int kThrough = 5001, kDirect = 5002;
// Small, so that windows close soon; set, so that they do not grow.
constexpr int kBuffer = 32 * 1024;
const std::string kSmall = leg("receive_buffer = \"32KiB\", send_buffer = \"32KiB\"", "lan");

// What a split connection cannot do as a direct one does.
struct Split {
  State state;
  const char* through;
  const char* reason;
};
constexpr Split kSplit[] = {
    {State::stuck, "all acknowledged, cut",
     "Direct, a reset destroys what the other end did not read yet, at once. headrace has acknowledged bytes "
     "that this end has no room for: they go first, and the reset follows when it has read them, or when "
     "none of them moved for a minute (RFC 3135, section 4)."},
};

const Split* find_split(State state) {
  const auto* row = std::find_if(std::begin(kSplit), std::end(kSplit),
                                 [&](const Split& split) { return split.state == state; });
  return row == std::end(kSplit) ? nullptr : row;
}

std::string play(const lab::InlineLab& lab, int port, bool client_acts, Act act, State state) {
  lab::SocketOptions options;
  options.urgent_inline = true;
  options.receive_buffer = options.send_buffer = kBuffer;
  Ends ends = connect_ends(lab, lab::endpoint(lab::kServer4, port), options, options);
  if (client_acts) return seen(std::move(ends.client), std::move(ends.server), act, state);
  return seen(std::move(ends.server), std::move(ends.client), act, state);
}

void compare_in_every_state(Act act) {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_policies(policy(kThrough, kSmall, kSmall))};
  for (const bool client_acts : {true, false}) {
    for (const State state : kStates) {
      if (!is_possible(act, state)) continue;
      INFO((client_acts ? "the client " : "the server ")
           << to_text(act) << ", the other: " << to_text(state));
      const std::string direct = play(lab, kDirect, client_acts, act, state);
      const Split* split = find_split(state);
      if (split != nullptr) UNSCOPED_INFO(split->reason);
      const std::string expected = split == nullptr ? direct : split->through;
      CHECK(play(lab, kThrough, client_acts, act, state) == expected);
      CHECK(direct.find("LOST") == std::string::npos);  // or the stage itself is wrong
      CHECK(direct.find("WRONG") == std::string::npos);
    }
  }
  CHECK(eventually([&] { return daemon.status()["sessions"] == 0; }));
}

}  // namespace

TEST_CASE("matrix: an end finishes") { compare_in_every_state(Act::finish); }

TEST_CASE("matrix: an end closes with all read") { compare_in_every_state(Act::close); }

TEST_CASE("matrix: an end closes with unread input") { compare_in_every_state(Act::close_unread); }

TEST_CASE("matrix: an end resets") { compare_in_every_state(Act::reset); }

TEST_CASE("matrix: an end is killed") { compare_in_every_state(Act::killed); }

TEST_CASE("matrix: an end finishes and resets right behind it") {
  compare_in_every_state(Act::finish_then_reset);
}

TEST_CASE("matrix: an end sends an urgent byte and closes") {
  compare_in_every_state(Act::urgent_then_close);
}

TEST_CASE("matrix: both ends finish at the same moment") { compare_in_every_state(Act::finish_both); }
