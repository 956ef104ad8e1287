// SPDX-License-Identifier: GPL-3.0-or-later
#include "policy/policy_index.hpp"

#include <algorithm>

namespace headrace {
namespace {

// More policies than this under one destination prefix are told apart by their source instead.
constexpr std::size_t kShared = 32;
// Lists longer than this are looked up rather than walked.
constexpr std::size_t kLongList = 16;

bool any_contains(const std::vector<Prefix>& prefixes, const IpAddress& address) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const Prefix& p) { return p.contains(address); });
}

PrefixMap set_of(const std::vector<Prefix>& prefixes) {
  PrefixMap set;
  for (const Prefix& prefix : prefixes) set.add(prefix, 0);
  return set;
}

bool holds(const std::unordered_map<std::uint32_t, PrefixMap>& sets, std::uint32_t index,
           const std::vector<Prefix>& list, const IpAddress& address) {
  if (list.size() <= kLongList) return any_contains(list, address);
  return sets.at(index).contains(address);
}

bool any_port(const std::vector<PortRange>& ports, std::uint16_t port) {
  return ports.empty() || std::any_of(ports.begin(), ports.end(),
                                      [&](const PortRange& range) { return range.contains(port); });
}

}  // namespace

void PrefixMap::add(const Prefix& prefix, std::uint32_t index) {
  auto& lengths = lengths_[prefix.base().is_v4() ? 0 : 1];
  auto at = std::find_if(lengths.begin(), lengths.end(),
                         [&](const auto& entry) { return entry.first == prefix.length(); });
  if (at == lengths.end()) at = lengths.insert(lengths.end(), {prefix.length(), {}});
  auto& indices = at->second[prefix.base()];
  if (indices.empty() || indices.back() != index) indices.push_back(index);
}

std::size_t PrefixMap::count(const Prefix& prefix) const {
  for (const auto& [length, bases] : lengths_[prefix.base().is_v4() ? 0 : 1]) {
    if (length != prefix.length()) continue;
    const auto found = bases.find(prefix.base());
    return found == bases.end() ? 0 : found->second.size();
  }
  return 0;
}

bool PrefixMap::contains(const IpAddress& address) const {
  bool found = false;
  for_each_containing(Prefix::host(address), [&](auto) { found = true; });
  return found;
}

PolicyIndex::PolicyIndex(const std::vector<Policy>& policies) {
  PrefixMap users;
  for (std::uint32_t i = 0; i < policies.size(); ++i) {
    for (const Prefix& to : policies[i].match.to) users.add(to, i);
  }
  for (std::uint32_t i = 0; i < policies.size(); ++i) {
    const Match& match = policies[i].match;
    const bool shared = std::any_of(match.to.begin(), match.to.end(),
                                    [&](const Prefix& to) { return users.count(to) > kShared; });
    const bool use_from = shared && !match.from.empty();
    for (const Prefix& prefix : use_from ? match.from : match.to)
      (use_from ? by_from_ : by_to_).add(prefix, i);
    if (match.to.size() > kLongList) to_sets_.emplace(i, set_of(match.to));
    if (match.from.size() > kLongList) from_sets_.emplace(i, set_of(match.from));
  }
}

bool PolicyIndex::matches(const std::vector<Policy>& policies, std::uint32_t index, const Flow& flow) const {
  const Match& match = policies[index].match;
  return any_port(match.ports, flow.destination.value.port) &&
         holds(to_sets_, index, match.to, flow.destination.value.address) &&
         (match.from.empty() || holds(from_sets_, index, match.from, flow.client.value.address));
}

std::optional<std::size_t> PolicyIndex::first_match(const std::vector<Policy>& policies,
                                                    const Flow& flow) const {
  std::size_t best = policies.size();
  const auto try_all = [&](std::span<const std::uint32_t> indices) {
    for (const std::uint32_t index : indices) {
      if (index >= best) return;
      if (matches(policies, index, flow)) best = index;
    }
  };
  by_to_.for_each_containing(Prefix::host(flow.destination.value.address), try_all);
  by_from_.for_each_containing(Prefix::host(flow.client.value.address), try_all);
  if (best == policies.size()) return std::nullopt;
  return best;
}

std::optional<std::size_t> PolicyIndex::first_cover(const std::vector<Policy>& policies,
                                                    std::size_t index) const {
  const Match& match = policies[index].match;
  std::size_t best = index;
  const auto try_all = [&](std::span<const std::uint32_t> indices) {
    for (const std::uint32_t earlier : indices) {
      if (earlier >= best) return;
      if (policies[earlier].match.covers(match)) best = earlier;
    }
  };
  // What covers all of it contains its first address.
  const IpAddress from = match.from.empty() ? IpAddress{} : match.from.front().base();
  by_to_.for_each_containing(Prefix::host(match.to.front().base()), try_all);
  by_from_.for_each_containing(Prefix::host(from), try_all);
  if (best == index) return std::nullopt;
  return best;
}

}  // namespace headrace
