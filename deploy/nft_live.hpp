// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "deploy/nft_words.hpp"

// What the running daemon writes into table inet headrace by itself (deploy/diversion_elements), and the
// rules that go by it: who could not reach which server a moment ago, and which data connections are
// expected. The sets are declared here without elements, so that no reload touches what is in them. Pure
// text.
namespace headrace {

std::vector<NftTable::Set> failed_sets(const DiversionPlan& plan);
// SYNs of these flows are the kernel's to forward; `syn` is what picks SYNs where the chain sees others too.
// To look costs each SYN 0.08 us (1.51 -> 1.59 us of processor time for one policy, medians of 8 interleaved
// runs of policy_cost).
std::string failed_rules(const DiversionPlan& plan, const std::string& syn);
// A SYN that was left to the kernel may have to be sent again after the element has gone. Taken then, a
// server that never answers would look as if it had: what was begun directly is tried so to its end. Not once
// the server has answered: a client that always comes from one port meets the entry of its last try.
std::string failed_repeats(const DiversionPlan& plan, const std::string& was_left);
Chains failed_chain(const DiversionPlan& plan, const std::string& more);

std::vector<NftTable::Set> expected_maps(const DiversionPlan& plan);
// Data connections come from wherever the server is, and to ports that no policy names. `condition` is what
// picks the packets.
std::string expected_flows(const DiversionPlan& plan, const std::string& condition);

}  // namespace headrace
