// SPDX-License-Identifier: GPL-3.0-or-later
// What counts: limits, sockets, queues and the counters of our rules (read_text.hpp).
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "proxy/doctor/read_text.hpp"

namespace headrace::doctor {
namespace {

using Words = std::vector<std::string>;

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "mss:1448" among the words; 0 when there is none.
std::uint64_t value_of(const Words& words, std::string_view key) {
  const auto found = std::find_if(words.begin(), words.end(),
                                  [&](const std::string& word) { return word.starts_with(key); });
  return found == words.end() ? 0 : number(std::string_view{*found}.substr(key.size()));
}

void add(std::optional<std::uint64_t>& count, std::uint64_t more) { count = count.value_or(0) + more; }

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "[12:720] -A HEADRACE_DIVERT -i wan0 -p tcp ..."
void note_rule(SynCounts& counts, std::string_view line) {
  const std::uint64_t packets = number(line.substr(1));
  const bool takes = contains(line, "-j TPROXY") || contains(line, "-j REDIRECT");
  if (contains(line, "-A HEADRACE_CLASS_") && takes) add(counts.diverted, packets);
  if (contains(line, "-A HEADRACE_DIVERT") && contains(line, "--src-type LOCAL") &&
      contains(line, "-j HEADRACE_POLICIES"))
    add(counts.arrived, packets);
}

}  // namespace

std::optional<std::size_t> read_descriptor_limit(std::string_view limits) {
  for (const std::string& line : lines_of(limits)) {
    const Words words = words_of(line);  // Max open files SOFT HARD files
    if (!line.starts_with("Max open files") || words.size() < 5) continue;
    return words[4] == "unlimited" ? SIZE_MAX : static_cast<std::size_t>(number(words[4]));
  }
  return std::nullopt;
}

std::map<std::string, std::vector<std::string>> read_queues(std::string_view text) {
  std::map<std::string, std::vector<std::string>> queues;
  for (const std::string& line : lines_of(text)) {
    const Words words = words_of(line);  // qdisc KIND HANDLE dev NAME ...
    if (words.size() < 5 || words[0] != "qdisc" || words[1] == "ingress" || words[1] == "clsact") continue;
    auto& kinds = queues[word_after(words, "dev")];
    if (std::find(kinds.begin(), kinds.end(), words[1]) == kinds.end()) kinds.push_back(words[1]);
  }
  return queues;
}

TcpSockets read_sockets(std::string_view text, int pid) {
  const std::string owner = "pid=" + std::to_string(pid) + ",";
  TcpSockets sockets;
  for (const std::string& line : lines_of(text)) {
    const Words words = words_of(line);  // STATE RECV-Q SEND-Q LOCAL PEER users:(...) cubic ... mss:N
    if (words.size() < 5) continue;
    if (words[0] == "SYN-RECV") ++sockets.half_open;
    const std::uint64_t backoff = value_of(words, "backoff:");
    if (backoff == 0 || !contains(line, owner)) continue;
    sockets.stuck.push_back({words[4], number(words[2]), static_cast<unsigned>(backoff),
                             static_cast<unsigned>(value_of(words, "mss:"))});
  }
  return sockets;
}

SynCounts read_nft_counters(std::string_view text) {
  SynCounts counts;
  std::string name;
  for (const std::string& line : lines_of(text)) {
    const Words words = words_of(line);
    if (words.size() >= 2 && words[0] == "counter") name = words[1];
    if (words.size() < 2 || words[0] != "packets") continue;
    const std::uint64_t packets = number(words[1]);
    if (name == "syn_seen") add(counts.seen, packets);
    if (name == "syn_arrived") add(counts.arrived, packets);
    if (name == "syn_diverted") add(counts.diverted, packets);
    if (name == "syn_no_listener") add(counts.no_listener, packets);
  }
  return counts;
}

SynCounts read_iptables_counters(std::string_view text) {
  SynCounts counts;
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with("[")) note_rule(counts, line);
  }
  return counts;
}

// A line each: its number, its reader, how many wait, how and how much is copied, and what was lost because
// the queue was full or its reader's socket was.
std::optional<PacketQueue> read_syn_queue(std::string_view text, std::uint16_t queue) {
  for (const std::string& line : lines_of(text)) {
    const Words words = words_of(line);
    if (words.size() < 7 || number(words[0]) != queue) continue;
    return PacketQueue{number(words[2]), number(words[5]) + number(words[6])};
  }
  return std::nullopt;
}

}  // namespace headrace::doctor
