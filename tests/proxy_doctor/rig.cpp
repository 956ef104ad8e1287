// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/proxy_doctor/rig.hpp"

#include <stdexcept>

namespace headrace::doctor {
namespace {

Finding find(const std::vector<Finding>& findings, const std::string& check) {
  for (const Finding& one : findings) {
    if (one.name == check) return one;
  }
  throw std::logic_error{"no such finding: " + check};
}

}  // namespace

Host::Host() {
  facts.environment.kernel = {6, 18};
  facts.environment.congestion_controls = {"cubic", "bbr", "reno"};
  facts.environment.default_congestion = "cubic";
  facts.environment.receive_limit = Bytes{4 << 20};
  facts.environment.send_limit = Bytes{4 << 20};
  facts.sysctls = {{"net.core.somaxconn", "4096"},
                   {"net.ipv4.ip_forward", "1"},
                   {"net.ipv4.ip_local_port_range", "32768\t60999"},
                   {"net.ipv4.ip_unprivileged_port_start", "1024"},
                   {"net.ipv4.tcp_migrate_req", "1"},
                   {"net.ipv4.tcp_rmem", "4096\t131072\t6291456"},
                   {"net.ipv4.tcp_wmem", "4096\t16384\t4194304"},
                   {"net.ipv4.tcp_slow_start_after_idle", "0"},
                   {"net.ipv6.conf.all.forwarding", "1"},
                   {"net.netfilter.nf_conntrack_count", "100"},
                   {"net.netfilter.nf_conntrack_max", "262144"},
                   {"fs.pipe-user-pages-soft", "16384"}};
  facts.interfaces = {{"wan0", 1500, true, "", "", "", false}, {"lan0", 1500, true, "", "", "", false}};
  facts.ip_rules = {{Family::ipv4, 0, {}, "255", false, "from all lookup 255"},
                    {Family::ipv4, 185, MarkAndMask{}, "18514", false, "from all fwmark ... lookup 18514"},
                    {Family::ipv4, 32766, {}, "254", false, "from all lookup 254"}};
  facts.next_hops = 1;
  facts.descriptors = 65536;
  facts.capabilities = {true, true, true, true, false};
  facts.daemon = {
      .answers = true, .rules_present = true, .pid = 17, .takes_new_flows = true, .accepted_since_rules = 0};
  facts.syns = {0, 0, 0, 0};
  configure(kPolicy);
}

void Host::configure(const std::string& policies, const std::string& intercept, const std::string& main,
                     const std::string& more) {
  configuration = load_configuration_text({{"headrace.toml", "policy_files = \"policies.d/*.toml\"\n" + main +
                                                                 "[intercept]\n" + intercept + more},
                                           {"policies.d/10.toml", policies}},
                                          facts.environment);
  configuration.warnings.clear();  // of the shipped profiles
}

void Host::chain(const std::string& tool, const std::string& table, const std::string& hook, int priority,
                 const std::vector<std::string>& rules, const std::string& policy) {
  facts.chains.push_back({tool, table, "c", hook, priority, policy, rules});
}

Finding Host::judged(const std::string& check) const { return find(examine({facts, &configuration}), check); }

Finding Host::judged_alone(const std::string& check) const { return find(examine({facts, nullptr}), check); }

}  // namespace headrace::doctor
