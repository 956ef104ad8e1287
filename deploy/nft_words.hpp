// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "deploy/net_plan.hpp"

// The words that the parts of table inet headrace are made of (deploy/nft_text, nft_held, nft_live). Pure
// text.
namespace headrace {

inline constexpr std::string_view kBareSyn = "tcp flags & (fin|syn|rst|ack) == syn";
inline constexpr std::string_view kNotBareSyn = "tcp flags & (fin|syn|rst|ack) != syn";

using Chain = NftTable::Chain;
using Chains = std::vector<Chain>;

template <class List>
void append(List& list, List more) {
  std::move(more.begin(), more.end(), std::back_inserter(list));
}

// "meta mark & 0x00ff0000 == 0x00480000 "; of several values one.
std::string is_marked(std::string_view where, std::uint32_t value, std::uint32_t mask);
std::string is_marked(std::string_view where, const std::set<std::uint32_t>& values, std::uint32_t mask);
// Sets the bits under the mask and keeps the others, which are other people's.
std::string set_mark(std::string_view where, std::uint32_t value, std::uint32_t mask);
std::string line(const std::string& rule);
std::string count(std::string_view counter);
// "iifname { ... } ", of any but loopback for "*".
std::string from_interfaces(const InterceptSettings& intercept);
bool takes_new_flows(const DiversionPlan& plan);

}  // namespace headrace
