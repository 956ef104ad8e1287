// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/toml_source.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace headrace {
namespace {

// toml++ stops at 256 values inside each other; nothing of ours nests deeper than three.
constexpr int kDeepest = 32;
// A file larger than this is not a configuration; 100,000 policies are some 15 MiB.
constexpr std::size_t kLargest = 64U * 1024 * 1024;

bool is_of_number(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_' || c == '-' ||
         c == '+' || c == '.';
}

bool is_inside_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }  // of UTF-8

// toml++ counts columns in characters, we in bytes: the same unless the text has others than ASCII.
class Text {
 public:
  explicit Text(std::string_view text) : text_{text} {
    if (std::none_of(text.begin(), text.end(), is_inside_character)) return;
    starts_.push_back(0);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') starts_.push_back(i + 1);
    }
  }

  Place place(const toml::source_position& position) const {
    const Place counted{position.line, position.column};
    if (counted.line == 0 || counted.line > starts_.size()) return counted;
    const std::size_t start = starts_[counted.line - 1];
    std::size_t at = start;
    for (unsigned column = 1; column < counted.column && at < text_.size(); ++column) {
      do ++at;
      while (at < text_.size() && is_inside_character(text_[at]));
    }
    return {counted.line, static_cast<unsigned>(at - start + 1)};
  }

  // What a number is written as, which ends at this place.
  std::string_view number_before(Place end) const {
    std::size_t line = 0;
    for (unsigned n = 1; n < end.line && line < text_.size(); ++n) line = text_.find('\n', line) + 1;
    const std::size_t last = std::min(line + end.column - 1, text_.size());
    std::size_t first = last;
    while (first > line && is_of_number(text_[first - 1])) --first;
    return text_.substr(first, last - first);
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> starts_;  // of the lines; none in a text of ASCII
};

class Converter {
 public:
  explicit Converter(const Text& text) : text_{text} {}

  TomlNode convert(const toml::node& node) const {
    return {text_.place(node.source().begin), node.visit([this](const auto& typed) { return value(typed); })};
  }

 private:
  using Value = decltype(TomlNode::value);

  Value value(const toml::value<bool>& one) const { return one.get(); }
  Value value(const toml::value<std::int64_t>& one) const { return one.get(); }
  Value value(const toml::value<std::string>& one) const { return one.get(); }
  Value value(const toml::value<double>&) const { return TomlOther{"a number with a fraction"}; }
  Value value(const toml::node&) const { return TomlOther{"a date"}; }

  Value value(const toml::array& values) const {
    TomlArray nodes;
    nodes.reserve(values.size());
    for (const toml::node& one : values) nodes.push_back(convert(one));
    return nodes;
  }

  Value value(const toml::table& values) const {
    TomlTable entries;
    entries.reserve(values.size());
    for (const auto& [key, node] : values) {
      entries.push_back({std::string{key.str()}, key_place(key, node), convert(node)});
    }
    std::sort(entries.begin(), entries.end(), [](const TomlEntry& a, const TomlEntry& b) {
      return std::pair{a.place.line, a.place.column} < std::pair{b.place.line, b.place.column};
    });
    return entries;
  }

  // A header's place is its bracket.
  Place key_place(const toml::key& key, const toml::node& node) const {
    const auto& value = node.source().begin;
    const auto& name = key.source().begin;
    return text_.place(value.line == name.line && value.column < name.column ? value : name);
  }

  const Text& text_;
};

Place place_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1: the first line's
  return {static_cast<unsigned>(lines + 1), static_cast<unsigned>(offset - start + 1)};
}

// Brackets open at once, strings and comments aside; more than enough precision for a limit.
std::optional<std::size_t> too_deep(std::string_view text) {
  int depth = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\' && quote == '"') ++i;
      if (c == quote || c == '\n') quote = 0;
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return i;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return std::nullopt;
}

// Keys of more than a few parts make tables in tables as well: a.b.c.d = 1.
bool too_many_dots(std::string_view text) {
  std::size_t dots = 0;
  for (const char c : text) {
    dots = c == '.' ? dots + 1 : c == '\n' ? 0 : dots;
    if (dots > 4096) return true;
  }
  return false;
}

// "Error while parsing key-value pair: expected '=', saw '2'" -> what was being parsed and why it ended.
std::string without_lead(std::string_view what) {
  constexpr std::string_view kLead = "Error while parsing ";
  if (what.starts_with(kLead)) what.remove_prefix(kLead.size());
  return std::string{what.substr(0, what.find('\n'))};
}

TomlFault fault_from(const toml::parse_error& error, const Text& text) {
  const std::string_view what = error.description();
  Place place = text.place(error.source().begin);
  if (what.find("not representable in 64 bits") == what.npos)
    return {place, "not valid TOML: " + without_lead(what)};
  const std::string_view digits = text.number_before(place);  // the fault is noticed behind them
  place.column -= static_cast<unsigned>(digits.size());
  return {place, std::string{digits} + " is too large a number"};
}

}  // namespace

std::variant<TomlNode, TomlFault> parse_toml(std::string_view text) {
  if (text.size() > kLargest) return TomlFault{{}, "larger than 64 MiB"};
  if (const auto nul = text.find('\0'); nul != text.npos)
    return TomlFault{place_of(text, nul), "not valid TOML: a NUL byte"};
  if (const auto deep = too_deep(text)) return TomlFault{place_of(text, *deep), "nested too deeply"};
  if (too_many_dots(text)) return TomlFault{{}, "nested too deeply"};
  const Text places{text};
  try {
    return Converter{places}.convert(toml::parse(text));
  } catch (const toml::parse_error& error) {
    return fault_from(error, places);
  } catch (const std::exception& error) {
    return TomlFault{{}, "not valid TOML: " + without_lead(error.what())};
  }
}

std::string describe(const TomlNode& node) {
  struct Describe {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(const std::string& value) const { return "\"" + value.substr(0, 80) + "\""; }
    std::string operator()(const TomlArray&) const { return "an array"; }
    std::string operator()(const TomlTable&) const { return "a table"; }
    std::string operator()(TomlOther value) const { return std::string{value.what}; }
  };
  return std::visit(Describe{}, node.value);
}

}  // namespace headrace
