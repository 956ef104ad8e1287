// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/privileges.hpp"

#include <algorithm>
#include <set>

namespace headrace {
namespace {

void drop(std::vector<SocketCall>& calls, const std::vector<RefusedCall>& refused) {
  std::erase_if(calls, [&](const SocketCall& call) {
    return std::any_of(refused.begin(), refused.end(),
                       [&](const RefusedCall& one) { return one.call == call; });
  });
}

void note_refused(const LegTreatment& treatment, Family family, std::set<std::string>& sentences) {
  for (const RefusedCall& one : probe(treatment, family))
    sentences.insert("profile " + treatment.profile + ": " + print(one.call) + " for " +
                     std::string{one.call.key} + " is refused (" + print(one.error) +
                     "); its legs do without");
}

}  // namespace

SharedTreatment without(const SharedTreatment& treatment, const std::vector<RefusedCall>& refused) {
  if (refused.empty()) return treatment;
  LegTreatment usable = *treatment;
  for (LegTreatment::Calls* calls : {&usable.ipv4, &usable.ipv6}) {
    drop(calls->handshake, refused);
    drop(calls->connection, refused);
  }
  return std::make_shared<const LegTreatment>(std::move(usable));
}

std::vector<std::string> refused_settings(const PolicyTable& policies, bool ipv6) {
  std::set<const LegTreatment*> treatments;
  for (const Policy& policy : policies.policies()) {
    if (policy.decision.action != Action::accelerate) continue;
    treatments.insert(policy.decision.client_leg.get());
    treatments.insert(policy.decision.server_leg.get());
  }
  std::set<std::string> sentences;
  for (const LegTreatment* treatment : treatments) {
    note_refused(*treatment, Family::ipv4, sentences);
    if (ipv6) note_refused(*treatment, Family::ipv6, sentences);
  }
  return {sentences.begin(), sentences.end()};
}

}  // namespace headrace
