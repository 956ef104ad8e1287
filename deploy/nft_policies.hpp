// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deploy/match_rules.hpp"
#include "deploy/nft_table.hpp"
#include "deploy/rule_index.hpp"

namespace headrace {

// The chain `policies` and what it needs: per family the rules in order (or a map from address to the few
// rules that can match it), and the sets they share. A SYN that a policy takes ends in its class_chain(); any
// other returns to the caller. Pure; used by deploy/nft_text alone.
//
// Measured with nft 1.0.6 on Linux 6.18, two shared cores (tests/deploy/policy_cost), over a SYN that no rule
// set sees (7.3 us through a veth); the last policy matches. Found by address when destinations or sources
// differ; walked where only ports do:
//   policies    by address: nft -f   a SYN    walked: nft -f   a SYN
//          1               0.02 s   +2.1 us          0.02 s   +1.6 us    (fib, tproxy's listener lookup)
//         10               0.02 s   +2.5 us          0.02 s   +2.7 us
//      1,000               0.10 s   +3.8 us          0.07 s    +62 us
//     10,000               0.97 s   +4.0 us          0.63 s   +650 us
// Single addresses have a map of their own, hashed: a change of one element of 100,000 takes nft 0.02 s there
// and 2.8 s in a map of intervals, which it reads whole before (load 6; all of them anew: 0.7 and 1.2 s).
// Lists of several addresses or ports are named sets, each once: anonymous sets are numbered by a search
// through all of the table's sets, which makes `nft -f` of 10,000 of them take 15 s. Room left: many ports of
// one destination could become a map `tcp dport vmap` in the same way.
class NftPolicies {
 public:
  explicit NftPolicies(const DiversionPlan& plan);
  // The SYNs that are held (hold_rules): every name begins with `hold_`, and they end in hold_chain().
  static NftPolicies of_held(const DiversionPlan& plan);

  std::vector<NftTable::Set> take_sets() { return std::move(sets_); }
  std::vector<NftTable::Chain> take_chains() { return std::move(chains_); }

 private:
  using RulesOf = std::vector<MatchRule> (*)(const DiversionPlan& plan, Family family);
  NftPolicies(const DiversionPlan& plan, std::string prefix, RulesOf rules);
  void add_family(const std::vector<MatchRule>& rules, Family family);
  std::string target(const std::vector<MatchRule>& rules, const std::vector<std::size_t>& list, IndexBy by,
                     Family family);
  std::string rule_line(const MatchRule& rule, Family family);
  std::string chain_of(const MatchRule& rule) const;
  std::string verdict(const MatchRule& rule) const;
  std::string condition(const std::string& selector, const std::string& type,
                        const std::vector<std::string>& values);
  // The name of what has this content, and whether it is new.
  std::pair<std::string, bool> name(std::string_view stem, const std::string& content);

  const DiversionPlan& plan_;
  std::string prefix_;                             // of all names
  std::map<std::string, std::string> content_of_;  // name -> content
  std::vector<NftTable::Chain> chains_;
  std::vector<NftTable::Set> sets_;  // in order of first use
};

}  // namespace headrace
