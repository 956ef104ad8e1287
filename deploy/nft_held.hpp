// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "deploy/nft_words.hpp"

// The SYNs of policies with accept = "verified" in table inet headrace: queued before anything else sees
// them, and known by their marks afterwards. Empty where no policy asks for it. Pure text.
namespace headrace {

Chains hold_chains(const DiversionPlan& plan);
// A condition: not one whose server did not want it.
std::string not_sent_on(const DiversionPlan& plan);
// A SYN leaves as it came, whatever was decided of it while it was held.
std::string forget_held(const DiversionPlan& plan);

}  // namespace headrace
