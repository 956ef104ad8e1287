// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "policy/address.hpp"

// One rule of another packet filter, as nft and iptables-save print it: what it does, as far as headrace
// minds. Pure. What it can't read it takes for harmless: a check must not cry over what it doesn't
// understand.
namespace headrace::doctor {

// nft's statement or iptables' target: does(rule, "masquerade", "MASQUERADE").
bool does(std::string_view rule, std::string_view statement, std::string_view target);
// Nothing but counters before its statement: every packet of the chain meets it.
bool is_unconditional(std::string_view rule);
// A jump to chains of ours.
bool is_ours(std::string_view rule);

// The bits of the packet's mark that a rule writes, and what they become.
struct MarkChange {
  std::uint32_t bits = 0;
  std::uint32_t value = 0;
  bool from_connection = false;  // the connection's mark: any value
};
std::optional<MarkChange> mark_change(std::string_view rule);

// True when packets with this mark meet a condition of the rule on marks.
bool tests_mark(std::string_view rule, std::uint32_t mark);

struct NatScope {
  std::string out_interface;     // only what leaves by it
  std::optional<Prefix> source;  // only what comes from there
  bool limited = false;          // by something that wasn't understood (a set, a port ...)
};
NatScope nat_scope(std::string_view rule);

}  // namespace headrace::doctor
