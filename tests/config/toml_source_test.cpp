// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/toml_source.hpp"

#include "tests/test.hpp"

using namespace headrace;

namespace {

const TomlEntry& entry(const TomlTable& table, std::string_view key) {
  for (const TomlEntry& candidate : table) {
    if (candidate.key == key) return candidate;
  }
  FAIL("no key " << key);
  throw 0;
}

const TomlTable& table(const TomlNode& node) { return std::get<TomlTable>(node.value); }

std::string place(Place place) { return std::to_string(place.line) + ":" + std::to_string(place.column); }

std::string fault(std::string_view text) {
  const auto parsed = parse_toml(text);
  const auto* found = std::get_if<TomlFault>(&parsed);
  return found == nullptr ? "accepted" : place(found->place);
}

}  // namespace

TEST_CASE("TOML: keys and values have their places") {
  const auto parsed = parse_toml(
      "top = 1\n"
      "[section]\n"
      "  mode   =   \"x\"\n"
      "'quoted key' = true\n"
      "dotted.inner = 3\n"
      "list = [ 1,\n"
      "  2 ]\n"
      "[[item]]\n"
      "leg = { a = 1, b = 2 }\n");
  const auto& root = table(std::get<TomlNode>(parsed));
  CHECK(place(entry(root, "top").place) == "1:1");
  CHECK(place(entry(root, "top").node.place) == "1:7");
  const auto& section = entry(root, "section");
  CHECK(place(section.place) == "2:1");
  const auto& keys = table(section.node);
  CHECK(place(entry(keys, "mode").place) == "3:3");
  CHECK(place(entry(keys, "mode").node.place) == "3:14");
  CHECK(place(entry(keys, "quoted key").place) == "4:1");
  CHECK(place(entry(table(entry(keys, "dotted").node), "inner").place) == "5:8");
  CHECK(place(std::get<TomlArray>(entry(keys, "list").node.value)[1].place) == "7:3");
  const auto& item = std::get<TomlArray>(entry(root, "item").node.value)[0];
  CHECK(place(item.place) == "8:1");
  CHECK(place(entry(table(entry(table(item), "leg").node), "b").place) == "9:16");
}

TEST_CASE("TOML: a fault is placed where it is") {
  CHECK(fault("a = 1\nb 2\nc = 3\n") == "2:3");
  CHECK(fault("a = 1\na = 2\n") == "2:5");
  CHECK(fault("a = 99999999999999999999\n") == "1:5");
  CHECK(fault("a = -9223372036854775809\n") == "1:5");
  CHECK(fault("a = 1\nb = 0xffffffffffffffffff\n") == "2:5");
  CHECK(fault(std::string_view{"a = 1\n\0", 7}) == "2:1");
}

TEST_CASE("TOML: columns are counted in bytes, also behind letters that have several") {
  const auto parsed = parse_toml("# \u20ac\nlist = [ \"\u00e4\u20ac\", 7 ]\n");
  const auto& root = table(std::get<TomlNode>(parsed));
  CHECK(place(std::get<TomlArray>(entry(root, "list").node.value)[1].place) == "2:19");
  CHECK(fault("a = [ \"\u00e4\u20ac\", 99999999999999999999 ]\n") == "1:16");
}

TEST_CASE("TOML: numbers in all their spellings are read exactly") {
  const auto parsed =
      parse_toml("a = 0x10\nb = 1_000\nc = -5\nd = +5\ne = 0o17\nf = 0b11\ng = 9223372036854775807\n");
  const auto& root = table(std::get<TomlNode>(parsed));
  const auto number = [&](std::string_view key) {
    return std::get<std::int64_t>(entry(root, key).node.value);
  };
  CHECK(number("a") == 16);
  CHECK(number("b") == 1000);
  CHECK(number("c") == -5);
  CHECK(number("d") == 5);
  CHECK(number("e") == 15);
  CHECK(number("f") == 3);
  CHECK(number("g") == INT64_MAX);
}

TEST_CASE(
    "TOML: letters beyond ASCII are refused where no string is, and trimmed lines may begin with them") {
  for (const char* letter : {"\u00e9", "\u03c7", "\u0499", "\u180f", "\u2070", "\u3001", "\U0001f600"}) {
    CHECK(fault(std::string{"[profile"} + letter + "]\n") != "accepted");
    CHECK(fault(std::string{"a = "} + letter + "\n") != "accepted");
    CHECK(fault(std::string{letter} + " = 1\n") != "accepted");
    CHECK(fault(std::string{"a = \"\"\"\\\n"} + letter + "\"\"\" # " + letter + "\n") == "accepted");
  }
}

TEST_CASE("TOML: a header or key that begins with none of a key's letters is refused") {
  for (const char* text :
       {"[==]\n", "[[=]]\n", "=1\n", "a.=1\n", "a = { = 1 }\n", "a = { b.\n", "[a.=]\n", "[\"\n"})
    CHECK(fault(text) != "accepted");
}

TEST_CASE("TOML: text that nests without end is refused instead of exhausting the stack") {
  CHECK(fault("a = " + std::string(100000, '[')) != "accepted");
  CHECK(fault("a = " + std::string(100000, '{')) != "accepted");
  std::string keys = "a";
  for (int i = 0; i < 100000; ++i) keys += ".a";
  CHECK(fault(keys + " = 1\n") != "accepted");
  CHECK(fault("a = \"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"\n") == "accepted");
}

TEST_CASE("TOML: every beginning of a good text is read or refused") {
  const std::string text =
      "[a]\nb = \"x\\ty\" # c\nd = [1, 0x2f, { e = '''\nf''' }]\n[[g]]\nh = 2020-01-01T00:00:00Z\n";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const auto parsed = parse_toml(text.substr(0, length));
    if (const auto* found = std::get_if<TomlFault>(&parsed)) CHECK_FALSE(found->text.empty());
  }
}
