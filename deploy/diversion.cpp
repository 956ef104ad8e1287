// SPDX-License-Identifier: GPL-3.0-or-later
// The running daemon's rules: apply, remove, look (deploy/net_apply.hpp). Needs CAP_NET_ADMIN, not uid 0.
#include <algorithm>
#include <exception>
#include <stdexcept>

#include "deploy/command.hpp"
#include "deploy/diversion_elements.hpp"
#include "deploy/iptables_saved.hpp"
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

// Whoever flushed the table left its chains.
bool nft_present() { return DiversionElements{}.rules("divert") > 0; }

// False when somebody else has changed the table: nft refuses, or what should be there is gone.
bool change_nft(const NftTable& before, const NftTable& now) {
  const std::string change = render_change(before, now);
  return change.empty() ? nft_present() : run_command({"nft", "-f", "-"}, change).ok();
}

bool iptables_present() {
  const CommandResult saved = run_command({"iptables-save"});
  if (!saved.ok()) return false;
  const auto tables = find_ours(saved.out);
  return !tables.empty() && std::all_of(tables.begin(), tables.end(), [](const auto& table) {
    return !table.second.rules.empty() && !table.second.jumps.empty();
  });
}

}  // namespace

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
  AppliedDiversion now{nft_table(plan), true};
  if (before != nullptr && change_nft(before->nft, now.nft))
    now.counters_began = false;
  else
    require_command({"nft", "-f", "-"}, render(now.nft));
  return now;
}

void remove_diversion(Firewall firewall) {
  if (firewall == Firewall::nft) {
    require_command({"nft", "-f", "-"}, render_nft_removal());
  } else {
    restore(render_iptables_removal(saved_rules(host_has_ipv6())));
  }
}

bool diversion_present(Firewall firewall) {
  return firewall == Firewall::nft ? nft_present() : iptables_present();
}

}  // namespace headrace
