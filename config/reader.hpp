// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/load.hpp"
#include "config/toml_source.hpp"

// Typed reading of TOML tables. Every fault becomes a Problem with its place and reading goes on, so that one
// run shows them all. Private to config/.
namespace headrace {

// Where problems of one file go. Borrows the list.
class Source {
 public:
  Source(std::string file, std::vector<Problem>& problems, std::vector<Problem>& warnings)
      : file_{std::move(file)}, problems_{&problems}, warnings_{&warnings} {}

  SourceLocation at(Place place) const { return {file_, place.line, place.column}; }
  void error(Place place, std::string text) const { problems_->push_back({at(place), std::move(text)}); }
  void warn(Place place, std::string text) const { warnings_->push_back({at(place), std::move(text)}); }
  std::size_t errors() const { return problems_->size(); }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  std::vector<Problem>* problems_;
  std::vector<Problem>* warnings_;
};

// `unknown key "nodely" (did you mean "nodelay"?)`
std::string unknown(std::string_view what, std::string_view name, const std::set<std::string>& known);

// "20-ftp.toml:9", for a message about another place
std::string brief(const SourceLocation& where);

// A name of a policy, profile or group: it ends up in logs, metrics and rule sets.
bool is_name(std::string_view text);
constexpr std::string_view kNameAccepted = "letters, digits, . _ - and at most 64 of them";

// "/run/headrace/admin.sock": from the root, naming something in it.
Parsed<std::string> parse_absolute_path(std::string_view text);

class TableReader {
 public:
  // `path` leads the keys in messages: "intercept." or "".
  TableReader(const Source& source, const TomlTable& table, std::string path);
  // Reports the keys that nobody took.
  ~TableReader();
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  const TomlNode* take(std::string_view key);
  const TomlEntry* take_entry(std::string_view key);
  const TomlTable* take_table(std::string_view key);
  std::vector<const TomlNode*> take_tables(std::string_view key);  // [[key]]

  void error(const TomlNode& node, std::string_view key, const std::string& text) const;
  // `key: 600 is not accepted (what is)`
  void refuse(const TomlNode& node, std::string_view key, std::string_view accepted) const;

  void flag(std::string_view key, bool& into);
  void text(std::string_view key, std::string& into, std::string_view accepted);
  void number(std::string_view key, std::uint64_t low, std::uint64_t high,
              const std::function<void(std::uint64_t)>& set);

  // One of some words.
  template <class T>
  void choice(std::string_view key, std::initializer_list<std::pair<std::string_view, T>> words, T& into) {
    const TomlNode* node = take(key);
    if (node == nullptr) return;
    const auto* text = std::get_if<std::string>(&node->value);
    std::string accepted;
    for (const auto& [word, value] : words) {
      if (text != nullptr && *text == word) {
        into = value;
        return;
      }
      accepted.append(accepted.empty() ? "\"" : ", \"").append(word).append("\"");
    }
    refuse(*node, key, accepted);
  }

  // A text that `parse` reads.
  template <class T>
  void parsed(std::string_view key, Parsed<T> (*parse)(std::string_view), T& into,
              std::string_view accepted) {
    if (const TomlNode* node = take(key)) read_parsed(*node, key, parse, into, accepted);
  }

  // The same, or a word that empties it.
  template <class T>
  void parsed_or(std::string_view key, std::string_view word, Parsed<T> (*parse)(std::string_view),
                 std::optional<T>& into, std::string_view accepted) {
    const TomlNode* node = take(key);
    if (node == nullptr) return;
    const auto* text = std::get_if<std::string>(&node->value);
    if (text != nullptr && *text == word) {
      into.reset();
      return;
    }
    T value{};
    if (read_parsed(*node, key, parse, value, accepted)) into = value;
  }

 private:
  template <class T>
  bool read_parsed(const TomlNode& node, std::string_view key, Parsed<T> (*parse)(std::string_view), T& into,
                   std::string_view accepted) {
    const auto* text = std::get_if<std::string>(&node.value);
    if (text == nullptr) return refuse(node, key, accepted), false;
    const auto value = parse(*text);
    if (!value) return error(node, key, value.complaint()), false;
    into = *value;
    return true;
  }

  const Source& source_;
  const TomlTable& table_;
  std::string path_;
  std::set<std::string> known_;
};

// A list of strings and numbers, or one of them alone.
std::vector<const TomlNode*> list_items(const TomlNode& node);

}  // namespace headrace
