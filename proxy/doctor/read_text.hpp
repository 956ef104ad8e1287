// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/doctor/facts.hpp"

// The text that ip, nft, iptables-save and /proc print, as facts. Pure; lines that aren't understood are
// left out.
namespace headrace::doctor {

std::vector<std::string> lines_of(std::string_view text);
std::vector<std::string> words_of(std::string_view text);
// The word that follows `key`; empty when there is none.
std::string word_after(const std::vector<std::string>& words, std::string_view key);

std::vector<Interface> read_links(std::string_view text);                 // ip -o -d link show
std::vector<IpRule> read_ip_rules(std::string_view text, Family family);  // ip -N rule show
std::string read_route_device(std::string_view text);                     // ip route get
std::size_t count_next_hops(std::string_view text);                       // ip route show default
// nft -y -t list ruleset, without table inet headrace and chains HEADRACE_*.
std::vector<FilterChain> read_nft(std::string_view text);
// iptables-save, without the chains HEADRACE_*; the jumps to them stay, as their place matters.
std::vector<FilterChain> read_iptables(std::string_view text, std::string_view tool);
// What iptables-nft made shows in both; iptables-save has it in the words that people wrote.
std::vector<FilterChain> without_doubles(std::vector<FilterChain> nft,
                                         const std::vector<FilterChain>& iptables);
std::map<std::string, std::uint64_t> read_netstat(std::string_view text);  // the TcpExt pair of lines
bool has_large_receive(std::string_view text);                             // ethtool -k
Capabilities read_capabilities(std::string_view status);                   // /proc/PID/status
std::optional<std::size_t> read_descriptor_limit(
    std::string_view limits);  // the hard one of /proc/PID/limits
std::map<std::string, std::vector<std::string>> read_queues(std::string_view text);  // tc qdisc show
TcpSockets read_sockets(std::string_view text, int pid);  // ss -OHtnip, the state in front
std::optional<PacketQueue> read_syn_queue(std::string_view text,
                                          std::uint16_t number);  // nfnetlink_queue of /proc/net/netfilter
SynCounts read_nft_counters(std::string_view text);               // nft list counters table inet headrace
SynCounts read_iptables_counters(std::string_view text);          // iptables-save -c

}  // namespace headrace::doctor
