// SPDX-License-Identifier: GPL-3.0-or-later
#include "policy/policy_table.hpp"

#include <algorithm>
#include <utility>

#include "policy/policy_index.hpp"

namespace headrace {
namespace {

IpAddress upper_half(const Prefix& prefix) {
  IpAddress::Octets octets = prefix.base().octets();
  octets[prefix.length() / 8] =
      static_cast<std::uint8_t>(octets[prefix.length() / 8] | (0x80U >> prefix.length() % 8));
  if (prefix.base().is_v4()) return IpAddress::v4({octets[0], octets[1], octets[2], octets[3]});
  return IpAddress::v6(octets);
}

// Whether `list` together holds all of `prefix`: one of its members does, or both halves are held. The
// halving stops where no member lies inside, thus at the depth of the members.
bool covered(const Prefix& prefix, const std::vector<Prefix>& list) {
  const auto contains_all = [&](const Prefix& member) { return member.contains(prefix); };
  if (std::any_of(list.begin(), list.end(), contains_all)) return true;
  std::vector<Prefix> inside;
  std::copy_if(list.begin(), list.end(), std::back_inserter(inside),
               [&](const Prefix& member) { return prefix.contains(member); });
  if (inside.size() < 2) return false;
  return covered(Prefix{prefix.base(), prefix.length() + 1}, inside) &&
         covered(Prefix{upper_half(prefix), prefix.length() + 1}, inside);
}

bool covered(const PortRange& range, std::vector<PortRange> list) {
  std::sort(list.begin(), list.end());
  std::uint32_t next = range.first;  // the first port not yet accounted for
  for (const PortRange& member : list) {
    if (member.first <= next) next = std::max<std::uint32_t>(next, member.last + 1U);
  }
  return next > range.last;
}

const std::vector<Prefix>& everywhere() {
  static const std::vector<Prefix> kEverywhere{Prefix{IpAddress{}, 0}, Prefix{IpAddress::v6({}), 0}};
  return kEverywhere;
}

template <class Item>
bool all_covered(const std::vector<Item>& items, const std::vector<Item>& list) {
  return std::all_of(items.begin(), items.end(), [&](const Item& item) { return covered(item, list); });
}

bool contains_address(const std::vector<Prefix>& prefixes, const IpAddress& address) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const Prefix& p) { return p.contains(address); });
}

LegTreatment::Calls calls_for(const Profile& settings, Side side, Family family) {
  return {socket_calls(settings, side, Phase::handshake, family),
          socket_calls(settings, side, Phase::connection, family)};
}

}  // namespace

std::string_view print(Action action) { return action == Action::accelerate ? "accelerate" : "bypass"; }

std::string_view print(ConnectAs connect_as) {
  switch (connect_as) {
    case ConnectAs::client:
      return "client";
    case ConnectAs::client_address:
      return "client-address";
    case ConnectAs::proxy:
      return "proxy";
  }
  return "proxy";
}

std::string_view print(Accept accept) { return accept == Accept::early ? "early" : "verified"; }

SharedTreatment make_treatment(std::string profile, const Profile& settings, Side side) {
  LegTreatment treatment{std::move(profile), settings, calls_for(settings, side, Family::ipv4),
                         calls_for(settings, side, Family::ipv6)};
  return std::make_shared<const LegTreatment>(std::move(treatment));
}

std::shared_ptr<const DataDecisions> data_decisions(const Decision& data_policy) {
  DataDecisions data{data_policy, data_policy};
  data.passive.data = data.active.data = nullptr;
  data.active.connect_as = ConnectAs::client;
  const LegTreatment& client = *data_policy.client_leg;
  const LegTreatment& server = *data_policy.server_leg;
  data.active.client_leg = make_treatment(server.profile, server.settings, Side::client);
  data.active.server_leg = make_treatment(client.profile, client.settings, Side::server);
  return std::make_shared<const DataDecisions>(std::move(data));
}

bool Match::matches(const Flow& flow) const {
  const std::uint16_t port = flow.destination.value.port;
  const auto holds_port = [&](const PortRange& range) { return range.contains(port); };
  return contains_address(to, flow.destination.value.address) &&
         (ports.empty() || std::any_of(ports.begin(), ports.end(), holds_port)) &&
         (from.empty() || contains_address(from, flow.client.value.address));
}

bool Match::covers(const Match& other) const {
  static const std::vector<PortRange> kAllPorts{PortRange{}};
  return (ports.empty() || all_covered(other.ports.empty() ? kAllPorts : other.ports, ports)) &&
         (from.empty() || all_covered(other.from.empty() ? everywhere() : other.from, from)) &&
         all_covered(other.to, to);
}

PolicyTable::PolicyTable() : PolicyTable{std::vector<Policy>{}} {}
PolicyTable::PolicyTable(std::vector<Policy> policies)
    : policies_{std::move(policies)}, index_{std::make_unique<PolicyIndex>(policies_)} {}
PolicyTable::PolicyTable(PolicyTable&&) noexcept = default;
PolicyTable& PolicyTable::operator=(PolicyTable&&) noexcept = default;
PolicyTable::~PolicyTable() = default;

const Policy* PolicyTable::decide(const Flow& flow) const {
  const auto found = index_->first_match(policies_, flow);
  return found ? &policies_[*found] : nullptr;
}

bool PolicyTable::has_verified() const {
  return std::any_of(policies_.begin(), policies_.end(), is_verified);
}

const Policy* PolicyTable::shadowed_by(const std::vector<Policy>& policies, std::size_t index) {
  for (std::size_t earlier = 0; earlier < index; ++earlier) {
    if (policies[earlier].match.covers(policies[index].match)) return &policies[earlier];
  }
  return nullptr;
}

std::vector<PolicyTable::Shadowed> PolicyTable::shadowed() const {
  std::vector<Shadowed> found;
  for (std::size_t index = 0; index < policies_.size(); ++index) {
    if (const auto by = index_->first_cover(policies_, index)) found.push_back({index, *by});
  }
  return found;
}

}  // namespace headrace
