// SPDX-License-Identifier: GPL-3.0-or-later
#include "policy/policy_index.hpp"

#include <algorithm>
#include <span>

namespace headrace {
namespace {

// More policies than this under one destination prefix are told apart by their source instead.
constexpr std::size_t kShared = 32;
// Lists longer than this are looked up rather than walked.
constexpr std::size_t kLongList = 16;

using Sets = std::unordered_map<std::uint32_t, PrefixMap>;

void keep_long_list(Sets& sets, std::uint32_t index, const std::vector<Prefix>& prefixes) {
  if (prefixes.size() <= kLongList) return;
  PrefixMap& set = sets[index];
  for (const Prefix& prefix : prefixes) set.add(prefix, 0);
}

bool holds(const Sets& sets, std::uint32_t index, const std::vector<Prefix>& list, const IpAddress& address) {
  if (list.size() > kLongList) return sets.at(index).contains(address);
  return std::any_of(list.begin(), list.end(),
                     [&](const Prefix& prefix) { return prefix.contains(address); });
}

}  // namespace

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
    keep_long_list(to_sets_, i, match.to);
    keep_long_list(from_sets_, i, match.from);
    summaries_.push_back({match.ports.empty() ? PortRange{0, 65535} : match.ports.front(),
                          match.ports.size() <= 1, match.from.empty()});
  }
}

bool PolicyIndex::port_matches(const Match& match, std::uint32_t index, std::uint16_t port) const {
  const Summary& summary = summaries_[index];
  if (summary.one_range || summary.ports.contains(port)) return summary.ports.contains(port);
  return std::any_of(match.ports.begin(), match.ports.end(),
                     [&](const PortRange& r) { return r.contains(port); });
}

bool PolicyIndex::from_matches(const Match& match, std::uint32_t index, const IpAddress& client) const {
  return summaries_[index].any_from || holds(from_sets_, index, match.from, client);
}

bool PolicyIndex::to_matches(const Match& match, std::uint32_t index, const IpAddress& destination) const {
  return holds(to_sets_, index, match.to, destination);
}

std::optional<std::size_t> PolicyIndex::first_match(const std::vector<Policy>& policies,
                                                    const Flow& flow) const {
  const IpAddress& client = flow.client.value.address;
  const Endpoint& destination = flow.destination.value;
  std::size_t best = policies.size();
  // What was found under a prefix of the one end needs to be asked about the other end only.
  const auto try_all = [&](std::span<const std::uint32_t> indices, auto other_end_matches) {
    for (const std::uint32_t index : indices) {
      if (index >= best) return;
      const Match& match = policies[index].match;
      if (port_matches(match, index, destination.port) && other_end_matches(match, index)) best = index;
    }
  };
  by_to_.for_each_containing(destination.address, [&](std::span<const std::uint32_t> found) {
    try_all(found,
            [&](const Match& match, std::uint32_t index) { return from_matches(match, index, client); });
  });
  by_from_.for_each_containing(client, [&](std::span<const std::uint32_t> found) {
    try_all(found, [&](const Match& match, std::uint32_t index) {
      return to_matches(match, index, destination.address);
    });
  });
  if (best == policies.size()) return std::nullopt;
  return best;
}

std::optional<std::size_t> PolicyIndex::first_cover(const std::vector<Policy>& policies,
                                                    std::size_t index) const {
  const Match& match = policies[index].match;
  if (match.to.empty()) return std::nullopt;  // all its addresses are bad, which is said elsewhere
  std::size_t best = index;
  const auto try_all = [&](std::span<const std::uint32_t> indices) {
    for (const std::uint32_t earlier : indices) {
      if (earlier >= best) return;
      if (policies[earlier].match.covers(match)) best = earlier;
    }
  };
  // What covers all of it contains its first address.
  by_to_.for_each_containing(match.to.front().base(), try_all);
  by_from_.for_each_containing(match.from.empty() ? IpAddress{} : match.from.front().base(), try_all);
  if (best == index) return std::nullopt;
  return best;
}

}  // namespace headrace
