// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/address_sets.hpp"

#include <algorithm>
#include <array>

namespace headrace {
namespace {

IpAddress make(Family family, const IpAddress::Octets& octets) {
  if (family == Family::ipv6) return IpAddress::v6(octets);
  return IpAddress::v4({octets[0], octets[1], octets[2], octets[3]});
}

Prefix parent(const Prefix& prefix) { return {prefix.base(), prefix.length() - 1}; }

bool are_halves_of_one(const Prefix& left, const Prefix& right) {
  return left.base().family() == right.base().family() && left.length() == right.length() &&
         left.length() > 0 && left != right && parent(left) == parent(right);
}

}  // namespace

std::vector<Prefix> shortest(std::vector<Prefix> prefixes) {
  std::sort(prefixes.begin(), prefixes.end());  // a prefix comes right before what lies in it
  std::vector<Prefix> kept;
  for (const Prefix& prefix : prefixes) {
    if (!kept.empty() && kept.back().contains(prefix)) continue;
    kept.push_back(prefix);
    while (kept.size() > 1 && are_halves_of_one(kept[kept.size() - 2], kept.back())) {
      kept.pop_back();
      kept.back() = parent(kept.back());
    }
  }
  return kept;
}

std::vector<PortRange> shortest(std::vector<PortRange> ports) {
  std::sort(ports.begin(), ports.end());
  std::vector<PortRange> kept;
  for (const PortRange& range : ports) {
    if (!kept.empty() && range.first <= kept.back().last + 1) {
      kept.back().last = std::max(kept.back().last, range.last);
    } else {
      kept.push_back(range);
    }
  }
  return kept;
}

bool is_everything(const std::vector<Prefix>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [](const Prefix& prefix) { return prefix.length() == 0; });
}

bool is_everything(const std::vector<PortRange>& ports) {
  return std::any_of(ports.begin(), ports.end(),
                     [](const PortRange& range) { return range.first <= 1 && range.last == 65535; });
}

std::string print_range(const IpAddress& first, const IpAddress& last) {
  for (unsigned length = 0; length <= first.width(); ++length) {
    const Prefix prefix{first, length};
    if (prefix.base() == first && last_address(prefix) == last) return print(prefix);
  }
  return print(first) + "-" + print(last);
}

IpAddress last_address(const Prefix& prefix) {
  IpAddress::Octets octets = prefix.base().octets();
  for (unsigned bit = prefix.length(); bit < prefix.base().width(); ++bit) {
    octets[bit / 8] = static_cast<std::uint8_t>(octets[bit / 8] | (0x80U >> (bit % 8)));
  }
  return make(prefix.base().family(), octets);
}

IpAddress next(const IpAddress& address) {
  IpAddress::Octets octets = address.octets();
  for (unsigned i = address.width() / 8; i-- > 0;) {
    if (++octets[i] != 0) break;
  }
  return make(address.family(), octets);
}

IpAddress previous(const IpAddress& address) {
  IpAddress::Octets octets = address.octets();
  for (unsigned i = address.width() / 8; i-- > 0;) {
    if (octets[i]-- != 0) break;
  }
  return make(address.family(), octets);
}

}  // namespace headrace
