// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// TOML text as a tree of plain values with their places. toml_source.cpp is the only file that knows which
// library reads TOML; a newer one is a change there. Pure; throws nothing.
namespace headrace {

struct Place {
  unsigned line = 0;  // from 1, as column (in bytes); 0: the file as a whole
  unsigned column = 0;
};

struct TomlNode;
struct TomlEntry;
using TomlArray = std::vector<TomlNode>;
using TomlTable = std::vector<TomlEntry>;  // in the order of the text

// A kind of value that no key takes.
struct TomlOther {
  std::string_view what;  // "a date", "a number with a fraction"
};

struct TomlNode {
  Place place;
  std::variant<bool, std::int64_t, std::string, TomlArray, TomlTable, TomlOther> value;
};

struct TomlEntry {
  std::string key;
  Place place;  // of the key; of the header for [table] and [[table]]
  TomlNode node;
};

struct TomlFault {
  Place place;
  std::string text;
};

// The root table, or the first thing that is not TOML.
std::variant<TomlNode, TomlFault> parse_toml(std::string_view text);

// The value in few words, for messages: `600`, `"600"`, `an array`.
std::string describe(const TomlNode& node);

}  // namespace headrace
