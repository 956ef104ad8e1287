// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "policy/address.hpp"

// Lists of prefixes and ports in their shortest form: sorted, nothing inside another, neighbours joined.
// nft refuses overlapping elements ("conflicting intervals"), so nothing is rendered before it went
// through here. Pure.
namespace headrace {

std::vector<Prefix> shortest(std::vector<Prefix> prefixes);
std::vector<PortRange> shortest(std::vector<PortRange> ports);

// True for a list that leaves nothing out of its family, such as {0.0.0.0/0}, or out of all ports.
bool is_everything(const std::vector<Prefix>& prefixes);
bool is_everything(const std::vector<PortRange>& ports);

// "198.18.0.0/16" where the range is a prefix, else "198.18.0.0-198.18.2.255".
std::string print_range(const IpAddress& first, const IpAddress& last);

IpAddress last_address(const Prefix& prefix);
// The neighbours in numeric order; they wrap around at the ends.
IpAddress next(const IpAddress& address);
IpAddress previous(const IpAddress& address);

}  // namespace headrace
