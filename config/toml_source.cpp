// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/toml_source.hpp"

#include <algorithm>
#include <charconv>
#include <exception>
#include <optional>
#include <sstream>
#include <utility>

#include <toml.hpp>

namespace headrace {
namespace {

// toml11 recurses into arrays and inline tables without a limit; nothing of ours nests deeper than three.
constexpr int kDeepest = 32;
// A file larger than this is not a configuration; 100,000 policies are some 15 MiB.
constexpr std::size_t kLargest = 64U * 1024 * 1024;

bool is_bare(char c) {  // of a key without quotes
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_' || c == '-';
}

class Text {
 public:
  explicit Text(std::string_view text) : text_{text} {
    starts_.push_back(0);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') starts_.push_back(i + 1);
    }
  }

  Place place(std::size_t offset) const {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
    const auto line = static_cast<std::size_t>(after - starts_.begin());
    return {static_cast<unsigned>(line), static_cast<unsigned>(offset - starts_[line - 1] + 1)};
  }

  std::string_view between(std::size_t first, std::size_t last) const {
    return text_.substr(first, last - first);
  }

  // Where the key of the value at `offset` begins; the value's own place when it has no `key =` before it
  // (table headers, elements of arrays). toml11 3 keeps no place of a key.
  std::size_t key_before(std::size_t offset) const {
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    std::size_t at = offset;
    while (at > 0 && blank(text_[at - 1])) --at;
    if (at == 0 || text_[at - 1] != '=') return offset;
    --at;
    while (at > 0 && blank(text_[at - 1])) --at;
    if (at == 0) return offset;
    const char last = text_[at - 1];
    if (last == '"' || last == '\'') {
      const auto open = at >= 2 ? text_.rfind(last, at - 2) : text_.npos;
      return open == text_.npos ? offset : open;
    }
    while (at > 0 && is_bare(text_[at - 1])) --at;
    return at;
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> starts_;
};

struct Span {
  std::size_t first = 0;
  std::size_t last = 0;
};

// Not value::location(): it counts the lines from the start of the text at each call, which makes a large
// file quadratic.
Span span_of(const toml::value& value) {
  const auto* region = dynamic_cast<const toml::detail::region*>(toml::detail::get_region(value));
  if (region == nullptr) return {};
  return {static_cast<std::size_t>(region->first() - region->begin()),
          static_cast<std::size_t>(region->last() - region->begin())};
}

class Converter {
 public:
  explicit Converter(const Text& text) : text_{text} {}

  TomlNode convert(const toml::value& value) {
    TomlNode node{text_.place(span_of(value).first), TomlOther{"a date"}};
    switch (value.type()) {
      case toml::value_t::boolean:
        node.value = value.as_boolean();
        break;
      case toml::value_t::integer:
        node.value = integer(value, node.place);
        break;
      case toml::value_t::string:
        node.value = value.as_string().str;
        break;
      case toml::value_t::array:
        node.value = array(value.as_array());
        break;
      case toml::value_t::table:
        node.value = table(value.as_table());
        break;
      case toml::value_t::floating:
        node.value = TomlOther{"a number with a fraction"};
        break;
      default:
        break;
    }
    return node;
  }

  const std::optional<TomlFault>& fault() const { return fault_; }

 private:
  TomlArray array(const toml::array& values) {
    TomlArray nodes;
    for (const auto& value : values) nodes.push_back(convert(value));
    return nodes;
  }

  TomlTable table(const toml::table& values) {
    TomlTable entries;
    for (const auto& [key, value] : values) {
      entries.push_back({key, text_.place(text_.key_before(span_of(value).first)), convert(value)});
    }
    std::sort(entries.begin(), entries.end(), [](const TomlEntry& a, const TomlEntry& b) {
      return std::pair{a.place.line, a.place.column} < std::pair{b.place.line, b.place.column};
    });
    return entries;
  }

  // toml11 3 reads a number beyond 64 bits as some other number, so the digits are read again.
  std::int64_t integer(const toml::value& value, Place place) {
    const Span span = span_of(value);
    std::string digits{text_.between(span.first, span.last)};
    std::erase(digits, '_');
    if (digits.starts_with('+')) digits.erase(0, 1);
    const int base = digits.starts_with("0x")   ? 16
                     : digits.starts_with("0o") ? 8
                     : digits.starts_with("0b") ? 2
                                                : 10;
    const char* first = digits.data() + (base == 10 ? 0 : 2);
    const char* last = digits.data() + digits.size();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(first, last, number, base);
    if ((error != std::errc{} || end != last) && !fault_)
      fault_ = TomlFault{place, digits + " is too large a number"};
    return number;
  }

  const Text& text_;
  std::optional<TomlFault> fault_;
};

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

// "[error] toml::parse_key: an invalid key appeared.\n --> F\n 2 | [x\n   | ^--- here" -> one line.
std::string first_sentence(std::string_view what) {
  std::string_view line = what.substr(0, what.find('\n'));
  if (line.starts_with("[error] ")) line.remove_prefix(8);
  if (const auto name = line.find("toml::"); name == 0) {
    const auto colon = line.find(": ");
    if (colon != line.npos) line.remove_prefix(colon + 2);
  }
  while (line.ends_with('.')) line.remove_suffix(1);
  return line.empty() ? "it ends early" : std::string{line};
}

// The library's own location() is that of the line's or the file's start for many faults; the picture that it
// draws (` 2 | text`, below it `   |   ^--- here`) points at the spot.
std::optional<Place> pictured(const std::string& what) {
  std::optional<Place> place;
  std::istringstream lines{what};
  unsigned number = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto bar = line.find(" | ");
    if (bar == line.npos) continue;
    const std::string before = line.substr(0, bar);
    const auto digit = before.find_first_of("0123456789");
    if (digit != before.npos) {
      std::from_chars(before.data() + digit, before.data() + before.size(), number);
      continue;
    }
    const auto mark = line.find_first_not_of(' ', bar + 3);
    if (number != 0 && mark != line.npos) place = Place{number, static_cast<unsigned>(mark - bar - 2)};
  }
  return place;
}

TomlFault fault_from(const toml::exception& error) {
  const auto& where = error.location();
  return {pictured(error.what()).value_or(Place{where.line(), where.column()}),
          "not valid TOML: " + first_sentence(error.what())};
}

}  // namespace

std::variant<TomlNode, TomlFault> parse_toml(std::string_view text) {
  const Text places{text};
  if (text.size() > kLargest) return TomlFault{{}, "larger than 64 MiB"};
  if (const auto nul = text.find('\0'); nul != text.npos) {
    return TomlFault{places.place(nul), "not valid TOML: a NUL byte"};
  }
  if (const auto deep = too_deep(text)) return TomlFault{places.place(*deep), "nested too deeply"};
  if (too_many_dots(text)) return TomlFault{{}, "nested too deeply"};
  try {
    std::istringstream stream{std::string{text}};
    Converter converter{places};
    TomlNode root = converter.convert(toml::parse(stream, "configuration"));
    if (converter.fault()) return *converter.fault();
    return root;
  } catch (const toml::exception& error) {
    return fault_from(error);
  } catch (const std::exception& error) {
    return TomlFault{{}, "not valid TOML: " + first_sentence(error.what())};
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
