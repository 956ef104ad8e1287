// SPDX-License-Identifier: GPL-3.0-or-later
#include "policy/prefix_map.hpp"

#include <algorithm>
#include <cstring>

namespace headrace {
namespace {

constexpr std::size_t kFirstSlots = 8;

IpAddress::Octets ones(unsigned length) {
  IpAddress::Octets octets{};
  for (unsigned i = 0; i < octets.size(); ++i) {
    const unsigned kept = std::clamp(length, i * 8, i * 8 + 8) - i * 8;
    octets[i] = static_cast<std::uint8_t>(0xff00U >> kept);
  }
  return octets;
}

std::size_t hash(const std::array<std::uint64_t, 2>& key) {
  // Multiply and fold: neighbouring addresses must not share slots.
  std::uint64_t mixed = key[0] ^ (key[1] * 0x9e3779b97f4a7c15U);
  mixed = (mixed ^ (mixed >> 32U)) * 0xd6e8feb86659fd93U;
  return static_cast<std::size_t>(mixed ^ (mixed >> 32U));
}

}  // namespace

PrefixMap::Key PrefixMap::key_of(const IpAddress& address) {
  Key key{};
  std::memcpy(key.data(), address.octets().data(), sizeof key);
  return key;
}

PrefixMap::Key PrefixMap::masked(const IpAddress& address, const Length& length) {
  const Key key = key_of(address);
  return {key[0] & length.mask[0], key[1] & length.mask[1]};
}

const PrefixMap::Slot& PrefixMap::Length::find(const Key& key) const {
  std::size_t at = hash(key) & (slots.size() - 1);
  while (slots[at].used != 0 && slots[at].key != key) at = (at + 1) & (slots.size() - 1);
  return slots[at];
}

PrefixMap::Slot& PrefixMap::Length::find(const Key& key) {
  return const_cast<Slot&>(static_cast<const Length&>(*this).find(key));
}

void PrefixMap::Length::grow() {
  std::vector<Slot> old(std::max(kFirstSlots, slots.size() * 2));
  old.swap(slots);
  for (const Slot& slot : old) {
    if (slot.used != 0) find(slot.key) = slot;
  }
}

void PrefixMap::add(const Prefix& prefix, std::uint32_t number) {
  auto& lengths = lengths_[prefix.base().is_v4() ? 0 : 1];
  auto at = std::find_if(lengths.begin(), lengths.end(),
                         [&](const Length& l) { return l.length == prefix.length(); });
  if (at == lengths.end()) {
    at = lengths.insert(lengths.end(), Length{});
    at->length = prefix.length();
    std::memcpy(at->mask.data(), ones(prefix.length()).data(), sizeof at->mask);
  }
  if (at->used * 2 >= at->slots.size()) at->grow();
  Slot& slot = at->find(key_of(prefix.base()));
  if (slot.used == 0) {
    slot = {key_of(prefix.base()), number, 0, 1};
    ++at->used;
  } else if (numbers(slot).back() != number) {
    if (slot.more == 0) {
      lists_.push_back({slot.first});
      slot.more = static_cast<std::uint32_t>(lists_.size());
    }
    lists_[slot.more - 1].push_back(number);
  }
}

std::size_t PrefixMap::count(const Prefix& prefix) const {
  for (const Length& length : lengths_[prefix.base().is_v4() ? 0 : 1]) {
    if (length.length != prefix.length()) continue;
    const Slot& slot = length.find(key_of(prefix.base()));
    return slot.used == 0 ? 0 : numbers(slot).size();
  }
  return 0;
}

bool PrefixMap::contains(const IpAddress& address) const {
  bool found = false;
  for_each_containing(address, [&](auto) { found = true; });
  return found;
}

}  // namespace headrace
