// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/route_metrics.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <sstream>

namespace headrace {
namespace {

// What `ip` prints of a route's state and would not take back.
constexpr std::array<std::string_view, 7> kStates{"dead",       "linkdown", "offload",          "trap",
                                                  "rt_offload", "rt_trap",  "rt_offload_failed"};

struct Metrics {
  std::uint32_t initial_window = 0;  // 0: not asked for
  std::uint32_t initial_receive_window = 0;
  bool quickack = false;
  bool operator==(const Metrics&) const = default;
};

// Several policies may share a route: each gets what it asks for at least.
void add(Metrics& to, const Metrics& more) {
  to.initial_window = std::max(to.initial_window, more.initial_window);
  to.initial_receive_window = std::max(to.initial_receive_window, more.initial_receive_window);
  to.quickack = to.quickack || more.quickack;
}

Metrics wanted(const Profile& leg) {
  Metrics metrics;
  if (leg.initial_window) metrics.initial_window = leg.initial_window->count;
  if (leg.initial_receive_window) metrics.initial_receive_window = leg.initial_receive_window->count;
  metrics.quickack = leg.quickack == QuickAck::always;
  return metrics;
}

struct Offer {
  Metrics metrics;
  std::string for_whom;
};

class Offers {
 public:
  explicit Offers(const std::vector<HostRoute>& routes) : routes_{routes} {}

  void add_leg(const std::string& whom, const Profile& leg, const std::vector<Prefix>& peers) {
    const Metrics metrics = wanted(leg);
    if (metrics == Metrics{}) return;
    asked_ = true;
    if (peers.empty()) without_.push_back(whom + ": anybody has no route of its own");
    for (const Prefix& peer : peers) add_peer(whom, metrics, peer);
  }
  bool asked() const { return asked_; }
  std::string text() const;

 private:
  // Its own are the routes that lead to nobody else.
  void add_peer(const std::string& whom, const Metrics& metrics, const Prefix& peer) {
    bool found = false;
    for (std::size_t i = 0; i < routes_.size(); ++i) {
      if (peer.length() == 0 || !peer.contains(routes_[i].to)) continue;
      found = true;
      Offer& offer = by_route_[i];
      add(offer.metrics, metrics);
      if (offer.for_whom.find(whom) == std::string::npos)
        offer.for_whom += (offer.for_whom.empty() ? "" : ", ") + whom;
    }
    if (!found) without_.push_back(whom + ": " + print(peer) + " has no route of its own");
  }

  const std::vector<HostRoute>& routes_;
  std::map<std::size_t, Offer> by_route_;
  std::vector<std::string> without_;
  bool asked_ = false;
};

// The route's own words, but for the metrics that are set anew.
std::string change(const HostRoute& route, const Metrics& metrics) {
  std::istringstream words{route.text};
  std::string prefix;
  words >> prefix;
  std::string text = (route.to.base().is_v4() ? "ip -4 route change " : "ip -6 route change ") + prefix;
  if (metrics.initial_window > 0) text += " initcwnd " + std::to_string(metrics.initial_window);
  if (metrics.initial_receive_window > 0)
    text += " initrwnd " + std::to_string(metrics.initial_receive_window);
  if (metrics.quickack) text += " quickack 1";
  for (std::string word; words >> word;) {
    const bool anew = (word == "initcwnd" && metrics.initial_window > 0) ||
                      (word == "initrwnd" && metrics.initial_receive_window > 0) ||
                      (word == "quickack" && metrics.quickack);
    if (anew) {
      words >> word;  // its value
    } else {
      text += " " + word;
    }
  }
  return text;
}

// The value behind `key` in the route's words; empty without it.
std::string value_of(const HostRoute& route, std::string_view key) {
  std::istringstream words{route.text};
  std::string value;
  for (std::string word; words >> word;)
    if (word == key && words >> value) return value;
  return value;
}

// A routing daemon or network manager writes its routes again, without what others added.
std::string owner_note(const HostRoute& route) {
  const std::string owner = value_of(route, "proto");
  if (owner.empty() || owner == "kernel" || owner == "static" || owner == "boot") return {};
  return "#   (" + owner + " owns this route and may take the metrics away at its next update)\n";
}

std::string Offers::text() const {
  std::string text;
  for (const auto& [index, offer] : by_route_) {
    const HostRoute& route = routes_[index];
    text += "# " + offer.for_whom + ":\n";
    // `ip` prints the nexthop object's own via and dev too, and the kernel takes either it or these.
    if (const std::string object = value_of(route, "nhid"); !object.empty())
      text += "#   none for " + print(route.to) + ": it uses nexthop object " + object +
              ", and `ip route change` refuses what it prints of such a route\n";
    else
      text += "#   " + change(route, offer.metrics) + "\n" + owner_note(route);
  }
  for (const std::string& one : without_) text += "# " + one + "\n";
  return text;
}

Offers collect(const PolicyTable& policies, const std::vector<HostRoute>& routes) {
  Offers offers{routes};
  for (const Policy& policy : policies.policies()) {
    const Decision& decision = policy.decision;
    if (decision.action != Action::accelerate) continue;
    const std::string name = "policy \"" + decision.policy + "\", ";
    offers.add_leg(name + "server leg", decision.server_leg->settings, policy.match.to);
    offers.add_leg(name + "client leg", decision.client_leg->settings, policy.match.from);
  }
  return offers;
}

}  // namespace

std::vector<HostRoute> read_routes(std::string_view text) {
  std::vector<HostRoute> routes;
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    std::replace(line.begin(), line.end(), '\\', ' ');  // where -o joined the hops of one route
    std::istringstream words{line};
    std::string word;
    words >> word;
    const auto to = parse_prefix(word);
    if (!to || to->length() == 0 || line.find(" expires ") != std::string::npos) continue;
    HostRoute route{*to, word};
    while (words >> word) {
      if (std::find(kStates.begin(), kStates.end(), word) == kStates.end()) route.text += " " + word;
    }
    routes.push_back(std::move(route));
  }
  return routes;
}

bool asks_for_route_metrics(const PolicyTable& policies) {
  const std::vector<HostRoute> none;
  return collect(policies, none).asked();
}

std::string route_metrics(const PolicyTable& policies, const std::vector<HostRoute>& routes) {
  const Offers offers = collect(policies, routes);
  if (!offers.asked()) return {};
  return "\n# Offered, and done by nobody else: metrics of routes for initial_window, initial_receive_window "
         "and\n"
         "# quickack = \"always\". They hold for every connection of this host by that route. Where the "
         "daemon "
         "has\n"
         "# CAP_BPF it does the same for each connection alone; elsewhere windows need them.\n" +
         offers.text();
}

}  // namespace headrace
