// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/search/judge.hpp"

#include <algorithm>

namespace headrace {
namespace {

bool says_reset(lab::End end) { return end == lab::End::reset || end == lab::End::broken_pipe; }

std::string wrong_bytes(const Heard& from, const Heard& to, bool all) {
  if (!from.written.starts_with(to.heard)) {
    const auto differs =
        std::mismatch(to.heard.begin(), to.heard.end(), from.written.begin(), from.written.end());
    return "other bytes from " + std::to_string(differs.first - to.heard.begin()) + " on";
  }
  if (all && to.heard.size() != from.written.size())
    return "heard " + std::to_string(to.heard.size()) + " of " + std::to_string(from.written.size()) +
           " bytes";
  return {};
}

std::string wrong_marks(const Heard& from, const Heard& to) {
  for (const std::size_t mark : to.heard_marks)
    if (std::find(from.written_marks.begin(), from.written_marks.end(), mark) == from.written_marks.end())
      return "a mark at " + std::to_string(mark) + " that nobody set";
  const bool all = to.heard.size() == from.written.size();
  if (all && !from.written_marks.empty() &&
      (to.heard_marks.empty() || to.heard_marks.back() != from.written_marks.back()))
    return "the last mark is lost";
  return {};
}

std::string wrong_end(const EndScript& from, const Heard& listener) {
  if (!from.resets)
    return listener.hearing == lab::End::end_of_stream
               ? ""
               : std::string{"an end in order was heard as "} + lab::to_text(listener.hearing);
  // The kernel tells a reset once: to the reader or to the writer.
  if (listener.hearing == lab::End::reset || says_reset(listener.writing)) return {};
  return std::string{"a reset was heard as "} + lab::to_text(listener.hearing);
}

std::string wrong_direction(const EndScript& from, const EndScript& to, const Heard& speaker,
                            const Heard& listener) {
  const bool in_order = !from.resets && !to.resets;
  if (auto wrong = wrong_bytes(speaker, listener, in_order); !wrong.empty()) return wrong;
  if (auto wrong = wrong_marks(speaker, listener); !wrong.empty()) return wrong;
  return to.resets ? "" : wrong_end(from, listener);
}

}  // namespace

std::string what_is_wrong(const Script& script, const Played& played) {
  if (auto wrong = wrong_direction(script.client, script.server, played.client, played.server);
      !wrong.empty())
    return "to the server: " + wrong;
  if (auto wrong = wrong_direction(script.server, script.client, played.server, played.client);
      !wrong.empty())
    return "to the client: " + wrong;
  return {};
}

}  // namespace headrace
