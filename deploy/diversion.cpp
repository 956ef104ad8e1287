// SPDX-License-Identifier: GPL-3.0-or-later
// The running daemon's rules: apply, remove, look (deploy/net_apply.hpp). Needs CAP_NET_ADMIN, not uid 0.
#include <algorithm>
#include <exception>
#include <stdexcept>

#include "deploy/command.hpp"
#include "deploy/diversion_elements.hpp"
#include "deploy/iptables_saved.hpp"
#include "deploy/match_rules.hpp"
#include "deploy/net_apply.hpp"

namespace headrace {
namespace {

IptablesText saved_rules(bool ipv6) {
  IptablesText saved;
  saved.ipv4 = require_command({"iptables-save"}).out;
  if (ipv6) saved.ipv6 = require_command({"ip6tables-save"}).out;
  return saved;
}

void restore(const IptablesText& text) {
  // Counters of other people's rules are left alone by --noflush. -w waits for whoever holds the legacy
  // tools' lock (iptables-save takes none); iptables-nft has no such lock and takes the option all the same.
  if (!text.ipv4.empty()) require_command({"iptables-restore", "--noflush", "-w", "5"}, text.ipv4);
  if (!text.ipv6.empty()) require_command({"ip6tables-restore", "--noflush", "-w", "5"}, text.ipv6);
}

// Without what was there before, new flows would pass by until somebody reloads; where it can't be had, none
// of our rules is better than a mixture, whose listeners may be gone.
void put_back(const IptablesText& before, bool ipv6) {
  try {
    restore(render_iptables_return(before, saved_rules(ipv6)));
  } catch (const std::runtime_error&) {
    remove_diversion(Firewall::iptables);
  }
}

// A transaction is one family's, with the legacy tools one table's: what comes later can fail, above all for
// the lock that these wait for.
void apply_iptables(const DiversionPlan& plan, bool keep_before) {
  const IptablesText before = saved_rules(plan.ipv6);
  try {
    restore(render_iptables(plan, before));
  } catch (const std::runtime_error&) {
    const auto why = std::current_exception();
    try {
      if (keep_before)
        put_back(before, plan.ipv6);
      else
        remove_diversion(Firewall::iptables);
    } catch (const std::runtime_error&) {
      // The first failure is the one to tell.
    }
    std::rethrow_exception(why);
  }
}

bool nft_queues() {
  return run_command({"nft", "--check", "-f", "-"},
                     "table inet headrace_probe {\nchain probe {\nqueue flags bypass to 0\n}\n}\n")
      .ok();
}

// The rule of iptables beside the nft form, by nft: a host without iptables need not have it for this. The
// legacy tools' own would not be seen; without our nft table it queues nothing.
bool queue_rule_present() { return run_command({"nft", "list", "chain", "ip", "raw", "HEADRACE_HOLD"}).ok(); }

void remove_queue_rule() {
  if (queue_rule_present()) restore(render_iptables_removal(saved_rules(host_has_ipv6())));
}

// Whoever flushed the table left its chains. Where it marks SYNs for the rule beside it, that must be there.
bool nft_present() {
  DiversionElements table;
  return table.rules("divert") > 0 && (table.rules(kHoldByMark) == 0 || queue_rule_present());
}

bool needs_queue_rule(const NftTable& table) {
  return std::any_of(table.chains.begin(), table.chains.end(),
                     [](const NftTable::Chain& chain) { return chain.name == kHoldByMark; });
}

// False when somebody else has changed the table: nft refuses, or what should be there is gone.
bool change_nft(const NftTable& before, const NftTable& now) {
  const std::string change = render_change(before, now);
  return change.empty() ? nft_present() : run_command({"nft", "-f", "-"}, change).ok();
}

// The rule that queues comes first and goes last: it only sees what the table marks for it.
AppliedDiversion apply_nft(DiversionPlan plan, const AppliedDiversion* before) {
  plan.queue_rule = queue_rule_for(plan);
  AppliedDiversion now{nft_table(plan), true};
  const bool beside = needs_queue_rule(now.nft);
  if (beside) restore(render_iptables_queue(plan, saved_rules(plan.ipv6)));
  try {
    if (before != nullptr && change_nft(before->nft, now.nft))
      now.counters_began = false;
    else
      require_command({"nft", "-f", "-"}, render(now.nft));
  } catch (const std::runtime_error&) {
    if (beside && before == nullptr) remove_queue_rule();
    throw;
  }
  if (!beside && (before == nullptr || needs_queue_rule(before->nft))) remove_queue_rule();
  return now;
}

bool iptables_present() {
  const CommandResult saved = run_command({"iptables-save"});
  if (!saved.ok()) return false;
  const auto tables = find_ours(saved.out);
  return !tables.empty() && std::all_of(tables.begin(), tables.end(), [](const auto& table) {
    return !table.second.rules.empty() && !table.second.jumps.empty();
  });
}

// What iptables says to such a rule where it harms nobody.
std::string iptables_refusal() {
  const CommandResult tried = run_command({"unshare", "--net", "iptables-restore", "--noflush"},
                                          "*raw\n:HEADRACE_HOLD - [0:0]\n-A HEADRACE_HOLD -p tcp -j NFQUEUE "
                                          "--queue-num 0 --queue-bypass\nCOMMIT\n");
  if (tried.ok()) return {};
  if (tried.err.find("failed to execute") != std::string::npos) return "iptables is not installed";
  return tried.err.starts_with("unshare:") ? std::string{} : tried.err.substr(0, tried.err.find('\n'));
}

}  // namespace

QueueRule queue_rule_for(const DiversionPlan& plan) {
  return holds_syns(plan) && !nft_queues() ? QueueRule::iptables : QueueRule::nft;
}

std::string why_no_syn_queue(Firewall firewall) {
  if (firewall == Firewall::nft && nft_queues()) return {};
  const std::string refusal = iptables_refusal();
  if (refusal.empty()) return {};
  const std::string nft = firewall == Firewall::nft ? "this kernel's nft has no queue, and " : "";
  return "needs a packet filter that puts SYNs into a queue: " + nft + "no NFQUEUE by iptables: " + refusal +
         " (modprobe nft_queue or xt_NFQUEUE, or \"early\")";
}

AppliedDiversion apply_diversion(const DiversionPlan& plan, const AppliedDiversion* before) {
  const InterceptSettings& intercept = plan.settings.intercept;
  if (intercept.mode == InterceptMode::off) {
    remove_diversion(intercept.firewall);
    return {};
  }
  if (intercept.firewall == Firewall::iptables) {
    apply_iptables(plan, before != nullptr);
    return {{}, true};
  }
  return apply_nft(plan, before);
}

void remove_diversion(Firewall firewall) {
  if (firewall == Firewall::nft) {
    require_command({"nft", "-f", "-"}, render_nft_removal());
    remove_queue_rule();
  } else {
    restore(render_iptables_removal(saved_rules(host_has_ipv6())));
  }
}

bool diversion_present(Firewall firewall) {
  return firewall == Firewall::nft ? nft_present() : iptables_present();
}

}  // namespace headrace
