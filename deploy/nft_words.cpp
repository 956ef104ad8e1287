// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/nft_words.hpp"

#include "deploy/marks.hpp"
#include "deploy/match_rules.hpp"

namespace headrace {

std::string is_marked(std::string_view where, std::uint32_t value, std::uint32_t mask) {
  return std::string{where} + " & " + print_hex(mask) + " == " + print_hex(value);
}

std::string is_marked(std::string_view where, const std::set<std::uint32_t>& values, std::uint32_t mask) {
  if (values.size() == 1) return is_marked(where, *values.begin(), mask);
  std::string list;
  for (const std::uint32_t value : values) list.append(list.empty() ? "" : ", ").append(print_hex(value));
  return std::string{where} + " & " + print_hex(mask) + " { " + list + " }";
}

std::string set_mark(std::string_view where, std::uint32_t value, std::uint32_t mask) {
  std::string text = std::string{where} + " set ";
  if (mask == UINT32_MAX) return text + print_hex(value);
  return text.append(where) + " & " + print_hex(~mask) + " | " + print_hex(value);
}

std::string line(const std::string& rule) { return "    " + rule + "\n"; }

std::string from_interfaces(const InterceptSettings& intercept) {
  std::string list;
  for (const std::string& name : distinct_interfaces(intercept.interfaces)) {
    if (name == "*") return "iifname != \"lo\" ";
    list.append(list.empty() ? "\"" : ", \"").append(name).append("\"");
  }
  return "iifname { " + list + " } ";
}

std::string count(std::string_view counter) { return "counter name " + std::string{counter}; }

bool takes_new_flows(const DiversionPlan& plan) {
  return plan.diversion == Diversion::on && !plan.settings.intercept.interfaces.empty();
}

}  // namespace headrace
