// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/nft_held.hpp"

#include <set>

#include "deploy/marks.hpp"

namespace headrace {
namespace {

std::string was_held(const DiversionPlan& plan) {
  const MarkAndMask& marks = plan.settings.intercept.mark;
  return is_marked("meta mark", std::set{marks.asked_mark(), marks.taken_mark(), marks.direct_mark()},
                   marks.mask);
}

}  // namespace

// A SYN of a policy with accept = "verified" waits in a queue until its server has answered (proxy/verifier),
// before anything else but reassembly has seen it: no conntrack entry, no NAT. The verdict sends it through
// the chain that queued it once more, with a mark that lets it pass there, and then on its way: to be taken,
// or to the server itself. Without the daemon (bypass), or when it is too slow (fail-open), a SYN goes on as
// if it were accepted early, for which it takes a listener.
Chains hold_chains(const DiversionPlan& plan) {
  const MarkAndMask& marks = plan.settings.intercept.mark;
  const auto is_not = [&](std::uint32_t value) {
    return "meta mark & " + print_hex(marks.mask) + " != " + print_hex(value) + " ";
  };
  const std::string ask = plan.queue_rule == QueueRule::nft
                              ? "queue flags bypass to " + std::to_string(plan.settings.intercept.queue)
                              : set_mark("meta mark", marks.asked_mark(), marks.mask);
  return {{"hold", "filter hook prerouting priority raw - 1",
           line(from_interfaces(plan.settings.intercept) + std::string{kBareSyn} + " " +
                is_not(marks.taken_mark()) + is_not(marks.direct_mark()) +
                "fib daddr type != local fib saddr type != local jump hold_policies")},
          {hold_chain(plan), "", line("meta l4proto tcp " + ask)}};
}

std::string not_sent_on(const DiversionPlan& plan) {
  const MarkAndMask& marks = plan.settings.intercept.mark;
  if (!plan.policies.has_verified()) return {};
  return "meta mark & " + print_hex(marks.mask) + " != " + print_hex(marks.direct_mark()) + " ";
}

std::string forget_held(const DiversionPlan& plan) {
  if (!plan.policies.has_verified()) return {};
  return line(was_held(plan) + " " + set_mark("meta mark", 0, plan.settings.intercept.mark.mask));
}

}  // namespace headrace
