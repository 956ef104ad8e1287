// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/doctor/facts.hpp"

#include <sys/resource.h>

#include <array>
#include <exception>
#include <fstream>
#include <sstream>

#include "deploy/command.hpp"
#include "deploy/net_apply.hpp"
#include "deploy/net_plan.hpp"
#include "deploy/sysctl.hpp"
#include "policy/listener_class.hpp"
#include "proxy/admin.hpp"
#include "proxy/doctor/read_text.hpp"
#include "proxy/privileges.hpp"
#include "proxy/status.hpp"

namespace headrace::doctor {
namespace {

constexpr std::array kSysctls{
    "fs.pipe-user-pages-soft",
    "net.bridge.bridge-nf-call-ip6tables",
    "net.bridge.bridge-nf-call-iptables",
    "net.core.somaxconn",
    "net.ipv4.conf.all.rp_filter",
    "net.ipv4.conf.all.src_valid_mark",
    "net.ipv4.fib_multipath_hash_policy",
    "net.ipv4.ip_forward",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.tcp_migrate_req",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
    "net.ipv6.conf.all.disable_ipv6",
    "net.ipv6.conf.all.forwarding",
    "net.netfilter.nf_conntrack_count",
    "net.netfilter.nf_conntrack_max",
};

std::string file_text(const std::string& path) {
  std::ifstream in{path};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class Reader {
 public:
  explicit Reader(Facts& facts) : facts_{facts} {}

  // The output of a command; empty, and noted, when it fails.
  std::string output(const std::vector<std::string>& argv) {
    std::string text;
    attempt([&] { text = require_command(argv).out; });
    return text;
  }

  template <class Action>
  void attempt(Action&& action) {
    try {
      action();
    } catch (const std::exception& error) {
      facts_.unread.emplace_back(error.what());
    }
  }

  void sysctl(const std::string& name) {
    attempt([&] {
      if (auto value = read_sysctl(name)) facts_.sysctls[name] = *value;
    });
  }

 private:
  Facts& facts_;
};

void append(std::vector<FilterChain>& to, std::vector<FilterChain> more) {
  to.insert(to.end(), more.begin(), more.end());
}

void read_interfaces(Facts& facts, Reader& reader) {
  facts.interfaces = read_links(reader.output({"ip", "-o", "-d", "link", "show"}));
  const auto queues = read_queues(reader.output({"tc", "qdisc", "show"}));
  for (Interface& one : facts.interfaces) {
    if (const auto found = queues.find(one.name); found != queues.end()) one.queues = found->second;
    // As sysctl(8): a dot within a name is written as a slash.
    std::string name = one.name;
    for (char& c : name) c = c == '.' ? '/' : c;
    for (const char* key : {".rp_filter", ".src_valid_mark"}) reader.sysctl("net.ipv4.conf." + name + key);
    try {
      one.large_receive = has_large_receive(run_command({"ethtool", "-k", one.name}).out);
    } catch (const std::exception&) {
      one.large_receive = false;  // ethtool is a convenience: nothing depends on it being installed
    }
  }
}

// The packet filters of the other tool may well be missing: then they hold no rules either.
std::string output_if_there(const std::vector<std::string>& argv) {
  try {
    return run_command(argv).out;
  } catch (const std::exception&) {
    return {};
  }
}

void read_filters(Facts& facts) {
  std::vector<FilterChain> chains = read_iptables(output_if_there({"iptables-save"}), "iptables");
  append(chains, read_iptables(output_if_there({"ip6tables-save"}), "ip6tables"));
  facts.chains = without_doubles(read_nft(output_if_there({"nft", "-y", "-t", "list", "ruleset"})), chains);
  append(facts.chains, std::move(chains));
  // The legacy tools load their modules when they are asked, so they are asked only where these are in use.
  if (!file_text("/proc/self/net/ip_tables_names").empty())
    append(facts.chains, read_iptables(output_if_there({"iptables-legacy-save"}), "iptables-legacy"));
  if (!file_text("/proc/self/net/ip6_tables_names").empty())
    append(facts.chains, read_iptables(output_if_there({"ip6tables-legacy-save"}), "ip6tables-legacy"));
}

void read_routing(Facts& facts, Reader& reader) {
  facts.ip_rules = read_ip_rules(reader.output({"ip", "-4", "-N", "rule", "show"}), Family::ipv4);
  if (facts.has_ipv6) {
    for (IpRule& rule : read_ip_rules(reader.output({"ip", "-6", "-N", "rule", "show"}), Family::ipv6))
      facts.ip_rules.push_back(std::move(rule));
  }
  facts.next_hops = count_next_hops(reader.output({"ip", "-4", "route", "show", "default"}));
}

// Whether the kernel would take our rules: nothing is installed.
std::string refused_rules(const Configuration& configuration, bool ipv6) {
  const Settings& settings = configuration.settings;
  const ListenerClasses classes = group_into_classes(*configuration.policies);
  ClassPorts ports;
  for (std::size_t i = 0; i < classes.classes.size(); ++i)
    ports.push_back(static_cast<std::uint16_t>(settings.intercept.listener_ports.first + i));
  DiversionPlan plan{settings, *configuration.policies, classes, ports, Diversion::on, ipv6};
  try {
    plan.queue_rule = queue_rule_for(plan);
    if (settings.intercept.firewall == Firewall::nft) {
      require_command({"nft", "-c", "-f", "-"}, render_nft(plan));
    } else {
      const IptablesText text = render_iptables(plan);
      require_command({"iptables-restore", "--test", "--noflush", "-w", "5"}, text.ipv4);
      if (ipv6) require_command({"ip6tables-restore", "--test", "--noflush", "-w", "5"}, text.ipv6);
    }
  } catch (const std::exception& error) {
    const auto lines = lines_of(error.what());
    return lines.empty() ? "refused" : lines.front();
  }
  return {};
}

SynCounts read_syns(const InterceptSettings& intercept) {
  if (intercept.firewall == Firewall::nft)
    return read_nft_counters(output_if_there({"nft", "list", "counters", "table", "inet", "headrace"}));
  const std::string table = intercept.mode == InterceptMode::redirect ? "nat" : "mangle";
  return read_iptables_counters(output_if_there({"iptables-save", "-c", "-t", table}) +
                                output_if_there({"ip6tables-save", "-c", "-t", table}));
}

// A daemon's own privileges and limits are what counts; where /proc does not show them (another user's, or
// another pid namespace) this process stands for it.
void read_process(int pid, Facts& facts) {
  const std::string folder = "/proc/" + std::to_string(pid);
  const std::string status = file_text(folder + "/status");
  const auto descriptors = read_descriptor_limit(file_text(folder + "/limits"));
  if (status.empty() || !descriptors) return;
  facts.of_daemon = true;
  facts.capabilities = read_capabilities(status);
  facts.descriptors = *descriptors;
}

void read_daemon(const std::string& socket, Facts& facts) {
  facts.daemon.answers = admin_answers(socket);
  if (!facts.daemon.answers) return;
  const DaemonFacts said = read_status(admin_request(socket, "status", ""));
  facts.daemon.takes_new_flows = said.takes_new_flows;
  facts.daemon.accepted_since_rules = said.accepted_since_rules;
  // Not what it says of itself, which in another pid namespace is somebody else.
  facts.daemon.pid = admin_pid(socket);
  if (facts.daemon.pid != 0) read_process(facts.daemon.pid, facts);
  facts.sockets = read_sockets(
      output_if_there({"ss", "-OHtnip", "state", "established", "state", "syn-recv"}), facts.daemon.pid);
}

void read_for(const Configuration& configuration, Facts& facts, Reader& reader) {
  const Settings& settings = configuration.settings;
  if (settings.intercept.mode != InterceptMode::off)
    facts.rules_refused = refused_rules(configuration, facts.has_ipv6);
  if (configuration.policies->has_verified()) {
    facts.syn_queue =
        read_syn_queue(file_text("/proc/net/netfilter/nfnetlink_queue"), settings.intercept.queue);
    reader.attempt([&] { facts.no_syn_queue = why_no_syn_queue(settings.intercept.firewall); });
  }
  reader.attempt([&] { facts.route_differences = net_differences(plan_host(settings, facts.has_ipv6)); });
  reader.attempt([&] { facts.refused_settings = refused_settings(*configuration.policies, facts.has_ipv6); });
  reader.attempt([&] { facts.daemon.rules_present = diversion_present(settings.intercept.firewall); });
  if (facts.daemon.rules_present) facts.syns = read_syns(settings.intercept);
  reader.attempt([&] { read_daemon(settings.admin.socket, facts); });
}

std::string route_device(const std::vector<std::string>& argv, std::string& complaint) {
  try {
    return read_route_device(require_command(argv).out);
  } catch (const std::exception& error) {
    complaint = lines_of(error.what()).front();
    return {};
  }
}

}  // namespace

std::optional<std::string> Facts::sysctl(const std::string& name) const {
  const auto found = sysctls.find(name);
  if (found == sysctls.end()) return std::nullopt;
  return found->second;
}

std::optional<std::uint64_t> Facts::number(const std::string& name) const {
  const auto value = sysctl(name);
  if (!value) return std::nullopt;
  std::istringstream stream{*value};
  std::uint64_t number = 0;
  if (!(stream >> number)) return std::nullopt;
  return number;
}

std::uint64_t Facts::counter(const std::string& name) const {
  const auto found = counters.find(name);
  return found == counters.end() ? 0 : found->second;
}

Facts read_host(const Configuration* configuration) {
  Facts facts;
  Reader reader{facts};
  facts.environment = this_environment();
  facts.has_ipv6 = host_has_ipv6();
  for (const char* name : kSysctls) reader.sysctl(name);
  facts.counters = read_netstat(file_text("/proc/self/net/netstat"));
  facts.capabilities = read_capabilities(file_text("/proc/self/status"));
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) facts.descriptors = limit.rlim_max;
  read_interfaces(facts, reader);
  read_routing(facts, reader);
  read_filters(facts);
  if (configuration != nullptr) read_for(*configuration, facts, reader);
  return facts;
}

Probe read_probe(const Endpoint& client, const Endpoint& to) {
  Probe probe{client, to, {}, {}, {}};
  const std::string family = client.address.is_v4() ? "-4" : "-6";
  probe.client_device = route_device({"ip", family, "route", "get", print(client.address)}, probe.complaint);
  if (probe.client_device.empty()) return probe;
  probe.server_device = route_device({"ip", family, "route", "get", print(to.address), "from",
                                      print(client.address), "iif", probe.client_device},
                                     probe.complaint);
  return probe;
}

}  // namespace headrace::doctor
