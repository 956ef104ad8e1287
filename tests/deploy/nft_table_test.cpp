// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/nft_table.hpp"

#include <algorithm>

#include "bench/lab/inline_lab.hpp"
#include "deploy/command.hpp"
#include "deploy/net_plan.hpp"
#include "tests/deploy/given.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

using Catch::Matchers::Contains;

// Policies as a program makes them: a host each, found through a map.
std::vector<given::PolicyText> hosts(int count) {
  std::vector<given::PolicyText> policies;
  for (int i = 0; i < count; ++i)
    policies.push_back({{},
                        {"198.18." + std::to_string(i / 100) + "." + std::to_string(2 * (i % 100)),
                         "2001:db8:" + std::to_string(i) + "::1"},
                        {"1521"}});
  return policies;
}

// What the packet filter says once it has been given the first and then the change to the second, and what
// it says of the second alone.
struct Outcome {
  std::string changed;
  std::string alone;
};

Outcome change(const given::Host& before, const given::Host& now) {
  const lab::InlineLab lab;
  return lab.middle.run([&] {
    const auto list = [] { return require_command({"nft", "-s", "list", "table", "inet", "headrace"}).out; };
    const NftTable first = nft_table(before.plan());
    const NftTable second = nft_table(now.plan());
    Outcome outcome;
    require_command({"nft", "-f", "-"}, render(second));
    outcome.alone = list();
    require_command({"nft", "-f", "-"}, render(first));
    require_command({"nft", "-f", "-"}, render_change(first, second));
    outcome.changed = list();
    return outcome;
  });
}

// The order of what has names is the order of its making.
std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> sorted;
  std::size_t from = 0;
  for (std::size_t to = text.find('\n'); to != std::string::npos; to = text.find('\n', from)) {
    sorted.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

void check_same(const Outcome& outcome) { CHECK(lines(outcome.changed) == lines(outcome.alone)); }

TEST_CASE("nft: of the same policies there is nothing to send") {
  const given::Host host{hosts(2000)};
  CHECK(render_change(nft_table(host.plan()), nft_table(host.plan())).empty());
}

TEST_CASE("nft: of 2,000 policies the one that changed is sent") {
  auto policies = hosts(2000);
  const given::Host before{policies};
  policies[70].ports = {"1522"};
  const given::Host now{policies};
  const std::string text = render_change(nft_table(before.plan()), nft_table(now.plan()));
  CHECK_THAT(text, Contains("198.18.0.140 : ") && !Contains("198.18.0.138") && !Contains("198.18.0.142"));
  CHECK(text.size() < 1000);
}

TEST_CASE("nft: a policy put in front renames none behind it") {
  auto policies = hosts(2000);
  const given::Host before{policies};
  policies.insert(policies.begin(), {{}, {"198.19.5.5"}, {"80"}});
  const given::Host now{policies};
  CHECK(render_change(nft_table(before.plan()), nft_table(now.plan())).size() < 1000);
}

TEST_CASE("nft: a change leaves what the whole would have made") {
  auto policies = hosts(2000);
  const given::Host before{policies};
  SECTION("a port") { policies[70].ports = {"1522", "1530-1540"}; }
  SECTION("policies gone") { policies.erase(policies.begin() + 10, policies.begin() + 60); }
  SECTION("so many gone that the map is") { policies.resize(5); }
  SECTION("a network around them all") {
    policies.push_back({{}, {"198.18.0.0/16", "2001:db8::/32"}, {"80"}});
  }
  SECTION("a network in front") { policies.insert(policies.begin(), {{}, {"198.18.0.0/25"}, {}, "bypass"}); }
  SECTION("another class") { policies[3].take = "other"; }
  SECTION("sources") { policies[4].from = {"198.18.20.0/24", "198.18.22.0/24"}; }
  check_same(change(before, given::Host{policies}));
}

TEST_CASE("nft: the first policies of all may come by a change, and the last go by one") {
  const given::Host none{{}};
  const given::Host some{hosts(2000)};
  check_same(change(none, some));
  check_same(change(some, none));
}

TEST_CASE("nft: a bypass is one chain, and so is its end") {
  given::Host host{hosts(2000)};
  const NftTable on = nft_table(host.plan());
  host.diversion = Diversion::sessions;
  const NftTable off = nft_table(host.plan());
  CHECK(render_change(on, off).size() < 1000);
  CHECK(render_change(off, on).size() < 1000);
}

TEST_CASE("nft: interfaces and marks may come and go by a change") {
  given::Host before{hosts(3)};
  given::Host now{hosts(3)};
  SECTION("another interface") { now.settings.intercept.interfaces = {"eth1", "ppp*"}; }
  SECTION("none") { now.settings.intercept.interfaces.clear(); }
  SECTION("the first") { before.settings.intercept.interfaces.clear(); }
  SECTION("another mode") { now.settings.intercept.mode = InterceptMode::redirect; }
  check_same(change(before, now));
}

TEST_CASE("nft: names stand for contents") {
  CHECK(name_for("ports", "80, 443") == name_for("ports", "80, 443"));
  CHECK(name_for("ports", "80, 443") != name_for("ports", "80, 444"));
}

}  // namespace
}  // namespace headrace
