// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Table inet headrace as a value: its counters, sets, maps and chains by name, and the `nft -f` scripts that
// make it. A name stands for its content wherever many are made by a program, so that a change of one policy
// renames nothing else and a reload sends only what differs. Pure.
namespace headrace {

struct NftTable {
  // Short names are kept in the string itself: of 100,000 elements none is allocated by itself.
  struct Element {
    std::string key;
    std::string chain;  // of a map, where it leads; empty: back to who asked
    bool operator==(const Element&) const = default;
    auto operator<=>(const Element&) const = default;
  };
  struct Set {
    std::string name;
    std::string kind;               // "set" or "map"
    std::string properties;         // lines "    type ...\n"
    std::vector<Element> elements;  // none: the running daemon's, which no reload touches
  };
  struct Chain {
    std::string name;
    std::string hook;  // "filter hook prerouting priority raw"; empty: only jumped to
    std::string rules;
  };

  std::vector<std::string> counters;
  std::vector<Set> sets;
  std::vector<Chain> chains;  // in the order in which people read them
};

// A whole script that replaces whatever is there, in one transaction.
std::string render(const NftTable& table);
std::string render_nft_removal();

// From one to the other, in one transaction: chains that differ are filled anew, of sets and maps only the
// elements that differ go and come; empty when nothing differs. Only right where the packet filter holds
// `before`; else nft refuses, or what the daemon does not own stays wrong.
std::string render_change(const NftTable& before, const NftTable& now);

// "ports_1a2b3c4d", the same for the same content in every run. Who makes many names sees to it that no two
// contents share one (the numbers of 2^32 contents may clash).
std::string name_for(std::string_view stem, std::string_view content);

}  // namespace headrace
