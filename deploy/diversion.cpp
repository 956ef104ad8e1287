// SPDX-License-Identifier: GPL-3.0-or-later
// The running daemon's rules: apply, remove, look (deploy/net_apply.hpp). Needs CAP_NET_ADMIN, not uid 0.
#include <algorithm>
#include <exception>
#include <stdexcept>

#include "deploy/command.hpp"
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
void apply_iptables(const DiversionPlan& plan, OnFailure on_failure) {
  const IptablesText before = saved_rules(plan.ipv6);
  try {
    restore(render_iptables(plan, before));
  } catch (const std::runtime_error&) {
    const auto why = std::current_exception();
    try {
      if (on_failure == OnFailure::put_back)
        put_back(before, plan.ipv6);
      else
        remove_diversion(Firewall::iptables);
    } catch (const std::runtime_error&) {
      // The first failure is the one to tell.
    }
    std::rethrow_exception(why);
  }
}

bool nft_present() {
  const CommandResult listed = run_command({"nft", "list", "chain", "inet", "headrace", "divert"});
  // Whoever flushed the table left its chains: only the base chain's own line would be there.
  const auto rules = std::count(listed.out.begin(), listed.out.end(), '\n');
  return listed.ok() && rules > 5;
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

void apply_diversion(const DiversionPlan& plan, OnFailure on_failure) {
  const InterceptSettings& intercept = plan.settings.intercept;
  if (intercept.mode == InterceptMode::off) return remove_diversion(intercept.firewall);
  if (intercept.firewall == Firewall::iptables) return apply_iptables(plan, on_failure);
  require_command({"nft", "-f", "-"}, render_nft(plan));
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
