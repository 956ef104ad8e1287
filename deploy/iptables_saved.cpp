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

void note(SavedTable& table, std::string_view line) {
  if (starts_with(line, ":") && starts_with(line.substr(1), kOurs)) {
    table.chains.emplace_back(line.substr(1, line.find(' ') - 1));
  } else if (starts_with(line, "-A ") && starts_with(line.substr(3), kOurs)) {
    table.has_rules = true;
  } else if (starts_with(line, "-A ") && leads_to_us(line)) {
    table.jumps.push_back("-D " + std::string{line.substr(3)});
  }
}

}  // namespace

std::map<std::string, SavedTable> find_ours(std::string_view saved) {
  std::map<std::string, SavedTable> tables;
  std::istringstream lines{std::string{saved}};
  std::string table;
  for (std::string line; std::getline(lines, line);) {
    if (starts_with(line, "*")) table = line.substr(1);
    note(tables[table], line);
  }
  std::erase_if(tables,
                [](const auto& entry) { return entry.second.chains.empty() && entry.second.jumps.empty(); });
  return tables;
}

}  // namespace headrace
