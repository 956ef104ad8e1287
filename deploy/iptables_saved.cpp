// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/iptables_saved.hpp"

#include <algorithm>
#include <sstream>

namespace headrace {
namespace {

constexpr std::string_view kOurs = "HEADRACE_";

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool leads_to_us(std::string_view rule) {
  return rule.find(" -j HEADRACE_") != std::string_view::npos ||
         rule.find(" -g HEADRACE_") != std::string_view::npos;
}

// `place` is the rule's within its chain, from 1.
void note_jump(SavedTable& table, std::string_view chain, int place, std::string_view rest) {
  table.jumps.push_back(std::string{"-D "}.append(chain).append(rest));
  table.hooks.push_back(
      std::string{"-I "}.append(chain).append(" ").append(std::to_string(place)).append(rest));
}

using RuleCounts = std::map<std::string, int>;  // by chain, so far

void note(SavedTable& table, RuleCounts& counts, std::string_view line) {
  if (starts_with(line, ":") && starts_with(line.substr(1), kOurs)) {
    table.chains.emplace_back(line.substr(1, line.find(' ') - 1));
  } else if (starts_with(line, "-A ") && starts_with(line.substr(3), kOurs)) {
    table.rules.emplace_back(line);
  } else if (starts_with(line, "-A ")) {
    const std::string_view rule = line.substr(3);
    const std::string chain{rule.substr(0, rule.find(' '))};
    const int place = ++counts[chain];
    if (leads_to_us(line)) note_jump(table, chain, place, rule.substr(chain.size()));
  }
}

}  // namespace

std::map<std::string, SavedTable> find_ours(std::string_view saved) {
  std::map<std::string, SavedTable> tables;
  std::istringstream lines{std::string{saved}};
  std::string table;
  RuleCounts counts;
  for (std::string line; std::getline(lines, line);) {
    if (starts_with(line, "*")) {
      table = line.substr(1);
      counts.clear();
    }
    note(tables[table], counts, line);
  }
  std::erase_if(tables,
                [](const auto& entry) { return entry.second.chains.empty() && entry.second.jumps.empty(); });
  return tables;
}

}  // namespace headrace
