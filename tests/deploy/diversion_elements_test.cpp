// SPDX-License-Identifier: GPL-3.0-or-later
// Against what nft(8) makes and lists, in a real kernel.
#include "deploy/diversion_elements.hpp"

#include <cerrno>

#include "bench/lab/namespace.hpp"
#include "bench/lab/socket.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

const char* const kTable = R"(table inet headrace {
  counter passed { packets 7 bytes 420 }
  set ends4 { type ipv4_addr . inet_service; flags timeout; size 3; }
  set flows4 { type ipv4_addr . ipv4_addr . inet_service; flags timeout; size 10000; }
  set ends6 { type ipv6_addr . inet_service; flags timeout; }
  map ways { type ipv4_addr . inet_service : verdict; flags timeout; }
  chain class_0 { }
  chain class_1 { }
}
)";

IpAddress v4(int last) { return IpAddress::v4({198, 18, 2, static_cast<std::uint8_t>(last)}); }
const IpAddress kV6 = *parse_address("2001:db8:2::2");

TimedElement end(int last, std::uint16_t port, Duration timeout = 60s) {
  return {"ends4", element_key(v4(last), port), timeout, {}};
}
TimedElement way(std::uint16_t port, const std::string& go_to) {
  return {"ways", element_key(v4(2), port), 60s, go_to};
}

struct Table {
  Table() { space.command({"nft", "-f", "-"}, kTable); }
  std::string list(const std::string& kind, const std::string& name) const {
    return space.command({"nft", "list", kind, "inet", "headrace", name});
  }
  int add(const TimedElement& element) { return elements.add({&element, 1}); }
  bool count_becomes(const std::string& set, std::size_t wanted) {
    const lab::Deadline deadline{10s};
    while (elements.count(set) != wanted) {
      if (deadline.passed()) return false;
    }
    return true;
  }

  lab::Namespace space{"elements"};
  DiversionElements elements = space.run([] { return DiversionElements{}; });
};

}  // namespace

TEST_CASE("elements: what is added stands in the set as nft writes it, in both families") {
  Table table;
  CHECK(table.add(end(2, 1521)) == 0);
  CHECK(table.add({"flows4", element_key(v4(1), v4(2), std::uint16_t{1521}), 90s, {}}) == 0);
  CHECK(table.add({"ends6", element_key(kV6, std::uint16_t{21}), 90s, {}}) == 0);
  CHECK_THAT(table.list("set", "ends4"), Contains("198.18.2.2 . 1521 timeout 1m expires "));
  CHECK_THAT(table.list("set", "flows4"), Contains("198.18.2.1 . 198.18.2.2 . 1521 timeout 1m30s"));
  CHECK_THAT(table.list("set", "ends6"), Contains("2001:db8:2::2 . 21 timeout 1m30s"));
}

TEST_CASE("elements: an element of a map leads to its chain, and not elsewhere while it is there") {
  Table table;
  CHECK(table.add(way(20, "class_1")) == 0);
  CHECK_THAT(table.list("map", "ways"), Contains("198.18.2.2 . 20 timeout 1m") && Contains("goto class_1"));
  CHECK(table.add(way(20, "class_1")) == 0);
  CHECK(table.add(way(20, "class_0")) == EEXIST);
  CHECK_THAT(table.list("map", "ways"), Contains("goto class_1"));
  CHECK(table.add(way(21, "class_9")) == ENOENT);
}

TEST_CASE("elements: an element goes by itself after its time") {
  Table table;
  CHECK(table.add(end(2, 1521, 50ms)) == 0);
  CHECK(table.count_becomes("ends4", 0));
}

TEST_CASE("elements: adding one again begins its time anew") {
  Table table;
  CHECK(table.add(end(2, 1521, 500ms)) == 0);
  CHECK(table.add(end(2, 1521, 60s)) == 0);
  CHECK(table.add(end(3, 1521, 600ms)) == 0);
  CHECK(table.count_becomes("ends4", 1));  // the second is gone, and what was the first's time is over
  CHECK_THAT(table.list("set", "ends4"), Contains("198.18.2.2 . 1521 timeout 1m"));
}

TEST_CASE("elements: several are added all together or not at all") {
  Table table;
  const std::vector<TimedElement> good{end(2, 1521), end(2, 1521), way(20, "class_0")};
  CHECK(table.elements.add(good) == 0);
  CHECK(table.elements.count("ends4") == 1U);
  CHECK(table.elements.count("ways") == 1U);
  const std::vector<TimedElement> bad{end(3, 1521), way(21, "class_9")};
  CHECK(table.elements.add(bad) == ENOENT);
  CHECK(table.elements.count("ends4") == 1U);
  CHECK(table.elements.add(std::vector(DiversionElements::kMostAtOnce + 1, end(2, 1521))) == E2BIG);
}

TEST_CASE("elements: as many as fit at once, with the longest names, are one call") {
  Table table;
  std::vector<TimedElement> many;
  for (std::size_t i = 0; i < DiversionElements::kMostAtOnce; ++i)
    many.push_back({"flows4", element_key(v4(1), v4(2), static_cast<std::uint16_t>(i + 1)), 60s, {}});
  CHECK(table.elements.add(many) == 0);
  CHECK(table.elements.add(many) == 0);
  CHECK(table.elements.count("flows4") == many.size());
  const std::string longest(255, 'n');
  for (TimedElement& element : many) element = {longest, std::vector<std::byte>(64), 60s, longest};
  CHECK(table.elements.add(many) == ENOENT);
  many.front().set += "n";
  CHECK(table.elements.add(many) == ENAMETOOLONG);
}

TEST_CASE("elements: a full set takes no more, and says so") {
  Table table;
  for (const int last : {2, 3, 4}) CHECK(table.add(end(last, 1521)) == 0);
  CHECK(table.add(end(5, 1521)) == ENFILE);
  CHECK(table.elements.count("ends4") == 3U);
}

TEST_CASE("elements: what is removed is gone, once") {
  Table table;
  CHECK(table.add(end(2, 1521)) == 0);
  CHECK(table.elements.remove("ends4", element_key(v4(2), std::uint16_t{1522})) == ENOENT);
  CHECK(table.elements.remove("ends4", element_key(v4(2), std::uint16_t{1521})) == 0);
  CHECK(table.elements.count("ends4") == 0U);
  CHECK(table.elements.remove("ends4", element_key(v4(2), std::uint16_t{1521})) == ENOENT);
}

TEST_CASE("elements: without such a set, or without a table, nothing is there to be changed") {
  Table table;
  CHECK(table.add({"none", element_key(v4(2)), 60s, {}}) == ENOENT);
  CHECK(table.elements.count("none") == std::nullopt);
  CHECK(table.elements.packets("none") == std::nullopt);
  table.space.command({"nft", "delete", "table", "inet", "headrace"});
  CHECK(table.add(end(2, 1521)) == ENOENT);
  CHECK(table.elements.remove("ends4", element_key(v4(2), std::uint16_t{1521})) == ENOENT);
  CHECK(table.elements.count("ends4") == std::nullopt);
}

TEST_CASE("elements: a set of many is counted to its end, and a counter is read") {
  Table table;
  std::string text;
  for (int port = 1; port <= 5000; ++port)
    text += "add element inet headrace flows4 { 198.18.1.2 . 198.18.2.2 . " + std::to_string(port) +
            " timeout 1h }\n";
  table.space.command({"nft", "-f", "-"}, text);
  CHECK(table.elements.count("flows4") == 5000U);
  CHECK(table.elements.packets("passed") == 7U);
}

}  // namespace headrace
