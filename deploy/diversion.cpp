// SPDX-License-Identifier: GPL-3.0-or-later
// The running daemon's rules: apply, remove, look (deploy/net_apply.hpp). Needs CAP_NET_ADMIN, not uid 0.
#include <algorithm>
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
  // Counters of other people's rules are left alone by --noflush; -w waits for whoever holds the lock.
  if (!text.ipv4.empty()) require_command({"iptables-restore", "--noflush", "-w", "5"}, text.ipv4);
  if (!text.ipv6.empty()) require_command({"ip6tables-restore", "--noflush", "-w", "5"}, text.ipv6);
}

void apply_iptables(const DiversionPlan& plan) {
  try {
    restore(render_iptables(plan, saved_rules(plan.ipv6)));
  } catch (const std::runtime_error&) {
    remove_diversion(Firewall::iptables);  // one family alone would be a surprise; none is direct traffic
    throw;
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
    return table.second.has_rules && !table.second.jumps.empty();
  });
}

}  // namespace

void apply_diversion(const DiversionPlan& plan) {
  const InterceptSettings& intercept = plan.settings.intercept;
  if (intercept.mode == InterceptMode::off) return remove_diversion(intercept.firewall);
  if (intercept.firewall == Firewall::iptables) return apply_iptables(plan);
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
