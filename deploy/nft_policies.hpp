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
// Measured with nft 1.0.6 on Linux 6.18 (tests/deploy/policy_cost), policies with distinct destinations:
//   policies   nft -f    a SYN    the same walked one by one: nft -f   a SYN
//         10    0.02 s     +0.1 us                              0.02 s    +0.2 us
//      1,000    0.06 s     +0.2 us                              0.05 s     +15 us
//     10,000    0.55 s     +0.3 us                              0.30 s    +170 us
// Lists of several addresses or ports are named sets, each once: anonymous sets are numbered by a search
// through all of the table's sets, which makes `nft -f` of 10,000 of them take 15 s.
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
