// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/route_metrics.hpp"

#include "config/load.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

using Catch::Matchers::Contains;

const char* const kRoutes =
    "default via 198.18.1.254 dev wan0 \n"
    "unreachable 192.0.2.0/24 \n"
    "198.18.9.0/24 via 198.18.2.2 dev lan0 proto static metric 5 linkdown \n"
    "198.18.9.5 via 198.18.2.3 dev lan0 initcwnd 20 mtu 1400 \n"
    "198.18.20.0/24 \\\tnexthop via 198.18.1.2 dev wan0 weight 1 \\\tnexthop via 198.18.1.3 dev wan0 weight "
    "1 \n"
    "198.18.30.0/24 nhid 7 via 198.18.2.2 dev lan0 proto zebra metric 20 \n"
    "198.18.31.0/24 via 198.18.2.2 dev lan0 proto bird metric 32 \n";

std::string metrics(const std::string& policies) {
  const Configuration configuration = load_configuration_text(
      {{"headrace.toml", "policy_files = \"policies.d/*.toml\"\n"}, {"policies.d/10.toml", policies}}, {});
  auto routes = read_routes(kRoutes);
  return route_metrics(*configuration.policies, routes);
}

// A policy whose server leg, and no other, asks for metrics.
std::string server(const std::string& to, const std::string& asks, const std::string& name = "a") {
  return "[[policy]]\nname = \"" + name + "\"\nto = [\"" + to +
         "\"]\nclient_leg = \"plain\"\nserver_leg = { profile = \"plain\", " + asks + " }\n";
}

TEST_CASE("route metrics: each setting has its own, in the words of the route") {
  const std::string text = metrics(
      server("198.18.9.0/24", "initial_window = 60, initial_receive_window = 44, quickack = \"always\""));
  CHECK_THAT(
      text, Contains("# policy \"a\", server leg:\n"
                     "#   ip -4 route change 198.18.9.0/24 initcwnd 60 initrwnd 44 quickack 1 via 198.18.2.2 "
                     "dev lan0 proto static metric 5\n"));
  CHECK_THAT(text, Contains("ip -4 route change 198.18.9.5 initcwnd 60 initrwnd 44 quickack 1 via 198.18.2.3 "
                            "dev lan0 mtu 1400\n"));
}

TEST_CASE("route metrics: the client leg has those of the clients' routes, with all their hops") {
  const std::string text = metrics(
      "[[policy]]\nname = \"a\"\nfrom = [\"198.18.20.0/24\"]\nto = [\"any\"]\nserver_leg = \"plain\"\n"
      "client_leg = { profile = \"plain\", initial_window = 30 }\n");
  CHECK_THAT(
      text, Contains("# policy \"a\", client leg:\n#   ip -4 route change 198.18.20.0/24 initcwnd 30 nexthop "
                     "via 198.18.1.2 dev wan0 weight 1 nexthop via 198.18.1.3 dev wan0 weight 1\n"));
}

TEST_CASE("route metrics: a route that leads to others too is not offered") {
  const std::string text = metrics(server("198.18.9.7", "initial_window = 60"));
  CHECK_THAT(text, Contains("198.18.9.7 has no route of its own") && !Contains("route change"));
  CHECK_THAT(metrics(server("any", "initial_window = 60")), !Contains("route change"));
  CHECK_THAT(metrics("[[policy]]\nname = \"bare\"\nto = [\"198.18.9.5\"]\n"),
             Contains("\"bare\", client leg: anybody has no route of its own"));
}

TEST_CASE("route metrics: policies that share a route get the most that one asks for") {
  const std::string text = metrics(server("198.18.9.5", "initial_window = 30", "a") +
                                   server("198.18.9.0/24", "quickack = \"always\"", "b"));
  CHECK_THAT(text, Contains("# policy \"a\", server leg, policy \"b\", server leg:\n"
                            "#   ip -4 route change 198.18.9.5 initcwnd 30 quickack 1 via"));
}

TEST_CASE("route metrics: a route by a nexthop object is left out, and why") {
  CHECK_THAT(metrics(server("198.18.30.0/24", "initial_window = 30")),
             Contains("none for 198.18.30.0/24: it uses nexthop object 7") && !Contains("route change 198"));
}

TEST_CASE("route metrics: a route with an owner that updates it says so, others don't") {
  CHECK_THAT(metrics(server("198.18.31.0/24", "initial_window = 30")),
             Contains("metric 32\n#   (bird owns this route and may take the metrics away"));
  CHECK_THAT(metrics(server("198.18.9.0/24", "initial_window = 30")), !Contains("owns this route"));
}

TEST_CASE("route metrics: nothing is said when nobody asks") {
  CHECK(metrics(server("198.18.9.5", "quickack = \"auto\"")).empty());
  CHECK_THAT(metrics(server("198.18.9.5", "initial_window = 30")), Contains("CAP_BPF"));
}

}  // namespace
}  // namespace headrace
