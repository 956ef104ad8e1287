// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "deploy/match_rules.hpp"

namespace headrace {

// The chain `policies` and what it needs: per family the rules in order (or a map from address to the few
// rules that can match it), and the sets they share. A SYN that a policy takes ends in `class_N`; any
// other returns to the caller. Pure text; used by deploy/nft_text alone.
//
// Measured with nft 1.0.6 on Linux 6.18, two shared cores (tests/deploy/policy_cost), over a SYN that no rule
// set sees (7.3 us through a veth); the last policy matches. Found by address when destinations or sources
// differ; walked where only ports do:
//   policies    by address: nft -f   a SYN    walked: nft -f   a SYN
//          1               0.02 s   +2.1 us          0.02 s   +1.6 us    (fib, tproxy's listener lookup)
//         10               0.02 s   +2.5 us          0.02 s   +2.7 us
//      1,000               0.10 s   +3.8 us          0.07 s    +62 us
//     10,000               0.97 s   +4.0 us          0.63 s   +650 us
// Lists of several addresses or ports are named sets, each once: anonymous sets are numbered by a search
// through all of the table's sets, which makes `nft -f` of 10,000 of them take 15 s. Room left: many ports of
// one destination could become a map `tcp dport vmap` in the same way.
class NftPolicies {
 public:
  explicit NftPolicies(const DiversionPlan& plan);

  std::string sets() const;  // to stand before the chains
  const std::string& chains() const { return chains_; }

 private:
  void add_family(const std::vector<MatchRule>& rules, Family family);
  void add_chain(const std::string& name, const std::string& body);
  std::string rule_line(const MatchRule& rule, Family family);
  std::string condition(const std::string& selector, const std::string& type,
                        const std::vector<std::string>& values);

  std::string chains_;
  std::map<std::pair<std::string, std::string>, std::string> names_;  // (type, elements) -> set name
  std::vector<std::string> sets_;                                     // in order of first use
};

}  // namespace headrace
