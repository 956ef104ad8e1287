// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/reader.hpp"

#include <algorithm>
#include <numeric>

namespace headrace {
namespace {

// Letters to change, add, drop or swap with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);  // two rows up
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      row[j] = std::min({row[j - 1] + 1, above[j] + 1, above[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

// The nearest of `known` when it is near enough to be meant, else nullptr. Of equals, the one that begins
// alike.
const std::string* nearest_of(std::string_view name, const std::set<std::string>& known) {
  constexpr std::size_t kLongestCompared = 64;
  if (name.empty() || name.size() > kLongestCompared) return nullptr;
  const std::string* nearest = nullptr;
  std::size_t best = 2 * std::min<std::size_t>(name.size() / 3 + 1, 4) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance =
        2 * edit_distance(name, candidate) + (candidate.front() == name.front() ? 0 : 1);
    if (distance < best) best = distance, nearest = &candidate;
  }
  return nearest;
}

}  // namespace

std::string unknown(std::string_view what, std::string_view name, const std::set<std::string>& known) {
  std::string said = "unknown ";
  said.append(what).append(" \"").append(name.substr(0, 80)).append("\"");
  if (known.empty()) return said;
  const std::string* nearest = nearest_of(name, known);
  if (nearest != nullptr) return said + " (did you mean \"" + *nearest + "\"?)";
  std::string list;
  for (const std::string& candidate : known) list += (list.empty() ? "" : ", ") + candidate;
  return said + " (" + list + ")";
}

std::string brief(const SourceLocation& where) {
  return where.file.substr(where.file.rfind('/') + 1) + ":" + std::to_string(where.line);
}

bool is_name(std::string_view text) {
  const auto good = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), good);
}

TableReader::TableReader(const Source& source, const TomlTable& table, std::string path)
    : source_{source}, table_{table}, path_{std::move(path)} {}

TableReader::~TableReader() {
  for (const TomlEntry& entry : table_) {
    if (!known_.contains(entry.key)) source_.error(entry.place, unknown("key", entry.key, known_));
  }
}

const TomlEntry* TableReader::take_entry(std::string_view key) {
  known_.emplace(key);
  const auto found =
      std::find_if(table_.begin(), table_.end(), [&](const TomlEntry& e) { return e.key == key; });
  return found == table_.end() ? nullptr : &*found;
}

const TomlNode* TableReader::take(std::string_view key) {
  const TomlEntry* entry = take_entry(key);
  return entry == nullptr ? nullptr : &entry->node;
}

const TomlTable* TableReader::take_table(std::string_view key) {
  const TomlNode* node = take(key);
  if (node == nullptr) return nullptr;
  const auto* table = std::get_if<TomlTable>(&node->value);
  if (table == nullptr) refuse(*node, key, "a table, [" + path_ + std::string{key} + "]");
  return table;
}

std::vector<const TomlNode*> TableReader::take_tables(std::string_view key) {
  std::vector<const TomlNode*> tables;
  const TomlNode* node = take(key);
  if (node == nullptr) return tables;
  const std::string accepted = "tables, each begun with [[" + std::string{key} + "]]";
  const auto* array = std::get_if<TomlArray>(&node->value);
  if (array == nullptr || array->empty()) refuse(*node, key, accepted);
  if (array == nullptr) return tables;
  for (const TomlNode& element : *array) {
    if (std::holds_alternative<TomlTable>(element.value)) {
      tables.push_back(&element);
    } else {
      refuse(element, key, accepted);
    }
  }
  return tables;
}

void TableReader::error(const TomlNode& node, std::string_view key, const std::string& text) const {
  source_.error(node.place, path_ + std::string{key} + ": " + text);
}

void TableReader::refuse(const TomlNode& node, std::string_view key, std::string_view accepted) const {
  const auto* array = std::get_if<TomlArray>(&node.value);
  const std::string what = array != nullptr && array->empty() ? "an empty array" : describe(node);
  error(node, key, what + " is not accepted (" + std::string{accepted} + ")");
}

void TableReader::flag(std::string_view key, bool& into) {
  const TomlNode* node = take(key);
  if (node == nullptr) return;
  if (const auto* value = std::get_if<bool>(&node->value)) {
    into = *value;
  } else {
    refuse(*node, key, "true, false");
  }
}

void TableReader::text(std::string_view key, std::string& into, std::string_view accepted) {
  const TomlNode* node = take(key);
  if (node == nullptr) return;
  if (const auto* value = std::get_if<std::string>(&node->value)) {
    into = *value;
  } else {
    refuse(*node, key, accepted);
  }
}

void TableReader::number(std::string_view key, std::uint64_t low, std::uint64_t high,
                         const std::function<void(std::uint64_t)>& set) {
  const TomlNode* node = take(key);
  if (node == nullptr) return;
  const auto* value = std::get_if<std::int64_t>(&node->value);
  if (value != nullptr && *value >= 0 && low <= static_cast<std::uint64_t>(*value) &&
      static_cast<std::uint64_t>(*value) <= high) {
    set(static_cast<std::uint64_t>(*value));
  } else {
    refuse(*node, key, std::to_string(low) + "-" + std::to_string(high));
  }
}

std::vector<const TomlNode*> list_items(const TomlNode& node) {
  const auto* array = std::get_if<TomlArray>(&node.value);
  if (array == nullptr) return {&node};
  std::vector<const TomlNode*> items;
  for (const TomlNode& element : *array) items.push_back(&element);
  return items;
}

Parsed<std::string> parse_absolute_path(std::string_view text) {
  if (!text.starts_with('/') || text.ends_with('/'))
    return Complaint{"\"" + std::string{text.substr(0, 80)} + "\" is not accepted (an absolute path)"};
  return std::string{text};
}

}  // namespace headrace
