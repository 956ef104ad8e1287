// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/doctor/rule_text.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "proxy/doctor/read_text.hpp"

namespace headrace::doctor {
namespace {

using Words = std::vector<std::string>;

std::uint32_t number(const std::string& text) {
  return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 0));
}

bool is_number(const std::string& text) { return !text.empty() && text[0] >= '0' && text[0] <= '9'; }

bool is_iptables(std::string_view rule) { return rule.starts_with("-A "); }

// "0x480000/0xff0000"; without a mask all bits.
MarkAndMask marked(const std::string& text) {
  const auto slash = text.find('/');
  return {number(text), slash == std::string::npos ? UINT32_MAX : number(text.substr(slash + 1))};
}

// nft: "meta mark set 0x1", "meta mark set meta mark & 0xfffffff0 | 0x00000001", "meta mark set ct mark"; of
// rules that iptables made also "meta mark set mark and 0xfffffff0 xor 0x1".
std::optional<MarkChange> nft_change(const Words& words) {
  for (std::size_t i = 0; i + 3 < words.size(); ++i) {
    if (words[i] != "meta" || words[i + 1] != "mark" || words[i + 2] != "set") continue;
    const std::string& first = words[i + 3];
    if (is_number(first)) return MarkChange{UINT32_MAX, number(first), false};
    if (first != "meta" && first != "mark") return MarkChange{UINT32_MAX, 0, true};
    MarkChange change;
    for (std::size_t at = i + (first == "mark" ? 4 : 5); at + 1 < words.size(); at += 2) {
      if (words[at] == "&" || words[at] == "and") {
        change.bits |= ~number(words[at + 1]);
      } else if (words[at] == "|" || words[at] == "^" || words[at] == "or" || words[at] == "xor") {
        change.bits |= number(words[at + 1]);
        change.value |= number(words[at + 1]);
      } else {
        break;
      }
    }
    return change;
  }
  return std::nullopt;
}

std::optional<MarkChange> iptables_change(const Words& words) {
  const std::string target = word_after(words, "-j");
  if (target == "MARK") {
    const MarkAndMask set = marked(word_after(words, "--set-xmark"));
    return MarkChange{set.mask | set.mark, set.mark, false};
  }
  if (target == "TPROXY") {
    const MarkAndMask set = marked(word_after(words, "--tproxy-mark"));
    return MarkChange{set.mask, set.mark, false};
  }
  if (target == "CONNMARK" && std::find(words.begin(), words.end(), "--restore-mark") != words.end()) {
    const std::string mask = word_after(words, "--nfmask");
    return MarkChange{mask.empty() ? UINT32_MAX : number(mask), 0, true};
  }
  return std::nullopt;
}

bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The word after `key`, unless that is negated, before (iptables) or behind it (nft).
std::string value_of(const Words& words, std::string_view key) {
  const auto found = std::find(words.begin(), words.end(), key);
  if (found == words.end() || found + 1 == words.end() || *(found + 1) == "!=") return {};
  if (found != words.begin() && *(found - 1) == "!") return {};
  return *(found + 1);
}

}  // namespace

bool does(std::string_view rule, std::string_view statement, std::string_view target) {
  const Words words = words_of(rule);
  return is_iptables(rule) ? word_after(words, "-j") == target : has(words, statement);
}

bool is_unconditional(std::string_view rule) {
  Words words = words_of(rule);
  if (is_iptables(rule)) return words.size() > 2 && words[2] == "-j";
  if (words.size() > 5 && words[0] == "counter" && words[1] == "packets")
    words.erase(words.begin(), words.begin() + 5);
  else if (!words.empty() && words[0] == "counter")
    words.erase(words.begin());
  if (words.empty()) return false;
  static constexpr std::array<std::string_view, 8> kStatements{"drop",    "reject", "accept", "masquerade",
                                                               "notrack", "snat",   "tproxy", "dnat"};
  return std::find(kStatements.begin(), kStatements.end(), words[0]) != kStatements.end() ||
         (words.size() > 2 && words[0] == "meta" && words[2] == "set");
}

bool is_ours(std::string_view rule) { return rule.find("HEADRACE_") != std::string_view::npos; }

std::optional<MarkChange> mark_change(std::string_view rule) {
  const Words words = words_of(rule);
  return is_iptables(rule) ? iptables_change(words) : nft_change(words);
}

bool tests_mark(std::string_view rule, std::uint32_t mark) {
  const Words words = words_of(rule);
  if (is_iptables(rule)) {
    const std::string wanted = word_after(words, "--mark");
    if (wanted.empty() || !has(words, "mark") || has(words, "!")) return false;
    return (mark & marked(wanted).mask) == marked(wanted).mark;
  }
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    if (words[i] != "meta" || words[i + 1] != "mark") continue;
    if (is_number(words[i + 2])) return mark == number(words[i + 2]);
    if (words[i + 2] == "&" && i + 5 < words.size() && words[i + 4] == "==")
      return (mark & number(words[i + 3])) == number(words[i + 5]);
  }
  return false;
}

NatScope nat_scope(std::string_view rule) {
  const Words words = words_of(rule);
  NatScope scope;
  const bool old = is_iptables(rule);
  scope.out_interface = value_of(words, old ? "-o" : has(words, "oif") ? "oif" : "oifname");
  const std::string source = value_of(words, old ? "-s" : "saddr");
  if (const auto prefix = parse_prefix(source)) scope.source = *prefix;
  scope.limited = !source.empty() && !scope.source;
  for (const char* word : {"daddr", "-d", "dport", "--dport", "mark", "--mark", "iifname"})
    scope.limited = scope.limited || has(words, word);
  return scope;
}

}  // namespace headrace::doctor
