// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "bench/lab/namespace.hpp"

namespace headrace::lab {

// One end of a veth pair or of an emulated link: which namespace it is in (borrowed), what the interface is
// called there, and its addresses with prefix length ("198.18.1.2/24", "2001:db8:1::2/64").
struct Attachment {
  const Namespace& where;
  std::string device;
  std::vector<std::string> addresses;
};

// Gives a device that is up its addresses; they are usable at once, without duplicate address detection.
void add_addresses(const Attachment& end);

// Brings an existing device up, with MTU and addresses.
void configure(const Attachment& end, int mtu);

}  // namespace headrace::lab
