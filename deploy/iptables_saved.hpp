// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

// What is ours in the output of iptables-save: all that replacing it, removing it or putting it back needs.
// Pure.
namespace headrace {

struct SavedTable {
  std::vector<std::string> chains;  // HEADRACE_*
  std::vector<std::string> jumps;   // rules of other chains that lead into them, as "-D ..." lines
  std::vector<std::string> hooks;   // the same rules, as "-I CHAIN PLACE ..." lines
  std::vector<std::string> rules;   // in our chains
  bool operator==(const SavedTable&) const = default;
};

// By table name; tables without anything of ours are left out.
std::map<std::string, SavedTable> find_ours(std::string_view saved);

}  // namespace headrace
