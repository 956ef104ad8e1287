// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/doctor/read_text.hpp"

#include <linux/capability.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>

namespace headrace::doctor {
namespace {

using Words = std::vector<std::string>;

bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::uint32_t unsigned_of(const std::string& text) {
  return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 0));
}

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return std::string{text.substr(begin, text.find_last_not_of(" \t") - begin + 1)};
}

std::string unquoted(std::string text) {
  std::erase(text, '"');
  return text;
}

// iptables' chains are base chains of fixed type and priority.
int iptables_priority(const std::string& table, const std::string& chain) {
  if (table == "raw") return -300;
  if (table == "mangle") return -150;
  if (table == "nat") return chain == "POSTROUTING" || chain == "INPUT" ? 100 : -100;
  return table == "security" ? 50 : 0;
}

bool is_iptables_hook(std::string_view chain) {
  return chain == "PREROUTING" || chain == "INPUT" || chain == "FORWARD" || chain == "OUTPUT" ||
         chain == "POSTROUTING";
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// "type nat hook postrouting priority 100; policy accept;"
void read_base(const std::string& line, FilterChain& chain) {
  std::string plain = line;
  std::replace(plain.begin(), plain.end(), ';', ' ');
  const Words words = words_of(plain);
  chain.hook = word_after(words, "hook");
  chain.priority = std::atoi(word_after(words, "priority").c_str());
  const std::string policy = word_after(words, "policy");
  if (!policy.empty()) chain.policy = policy;
}

Interface read_link(const std::string& line) {
  const Words words = words_of(line);
  Interface link;
  if (words.size() < 3) return link;
  link.name = words[1].substr(0, words[1].find_first_of("@:"));
  link.up = words[2].find("UP") != std::string::npos && words[2].find("LOWER_UP") != std::string::npos;
  link.mtu = unsigned_of(word_after(words, "mtu"));
  link.master = word_after(words, "master");
  if (has(words, "bridge_slave")) link.member_of = "bridge";
  if (has(words, "vrf_slave")) link.member_of = "vrf";
  if (has(words, "bridge")) link.kind = "bridge";
  if (has(words, "vrf")) link.kind = "vrf";
  if (has(words, "veth")) link.kind = "veth";
  return link;
}

}  // namespace

std::vector<std::string> lines_of(std::string_view text) {
  std::istringstream stream{std::string{text}};
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream{std::string{text}};
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string word_after(const std::vector<std::string>& words, std::string_view key) {
  const auto found = std::find(words.begin(), words.end(), key);
  return found == words.end() || found + 1 == words.end() ? std::string{} : *(found + 1);
}

std::vector<Interface> read_links(std::string_view text) {
  std::vector<Interface> links;
  for (const std::string& line : lines_of(text)) {
    Interface link = read_link(line);
    if (!link.name.empty() && link.name != "lo") links.push_back(std::move(link));
  }
  return links;
}

std::vector<IpRule> read_ip_rules(std::string_view text, Family family) {
  std::vector<IpRule> rules;
  for (const std::string& line : lines_of(text)) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    IpRule rule;
    rule.family = family;
    rule.preference = unsigned_of(line);
    rule.text = trimmed(std::string_view{line}.substr(colon + 1));
    const Words words = words_of(rule.text);
    rule.table = word_after(words, "lookup");
    const std::string mark = word_after(words, "fwmark");
    if (!mark.empty()) {
      const auto slash = mark.find('/');
      rule.mark = MarkAndMask{unsigned_of(mark),
                              slash == std::string::npos ? UINT32_MAX : unsigned_of(mark.substr(slash + 1))};
    }
    const std::size_t plain = mark.empty() ? 4 : 6;  // from all [fwmark M] lookup T
    rule.selects = words.size() != plain || word_after(words, "from") != "all";
    rules.push_back(std::move(rule));
  }
  return rules;
}

std::string read_route_device(std::string_view text) {
  const Words words = words_of(text);
  if (!words.empty() && words.front() == "local") return "lo";
  return word_after(words, "dev");
}

std::size_t count_next_hops(std::string_view text) {
  std::size_t count = 0;
  for (const std::string& line : lines_of(text)) {
    const Words words = words_of(line);
    if (!words.empty() && (words.front() == "nexthop" || has(words, "via") || has(words, "dev"))) ++count;
  }
  return count;
}

std::vector<FilterChain> read_nft(std::string_view text) {
  std::vector<FilterChain> chains;
  std::string table;
  FilterChain* chain = nullptr;
  for (const std::string& line : lines_of(text)) {
    const Words words = words_of(line);
    if (words.empty()) continue;
    if (words[0] == "table" && words.size() >= 3) {
      table = words[1] + " " + words[2];
    } else if (words[0] == "chain" && words.size() >= 2 && words.back() == "{" && table != "inet headrace") {
      chains.push_back({"nft", table, words[1], "", 0, "accept", {}});
      chain = &chains.back();
    } else if (words[0] == "}") {
      chain = nullptr;
    } else if (chain != nullptr && words[0] == "type" && has(words, "hook")) {
      read_base(line, *chain);
    } else if (chain != nullptr) {
      chain->rules.push_back(unquoted(trimmed(line)));
    }
  }
  std::erase_if(chains, [](const FilterChain& one) { return one.name.starts_with("HEADRACE_"); });
  return chains;
}

std::vector<FilterChain> without_doubles(std::vector<FilterChain> nft,
                                         const std::vector<FilterChain>& iptables) {
  std::erase_if(nft, [&](const FilterChain& one) {
    return std::any_of(iptables.begin(), iptables.end(), [&](const FilterChain& other) {
      const std::string family = other.tool.starts_with("ip6") ? "ip6 " : "ip ";
      return one.table == family + other.table && one.name == other.name;
    });
  });
  return nft;
}

std::vector<FilterChain> read_iptables(std::string_view text, std::string_view tool) {
  std::vector<FilterChain> chains;
  std::string table;
  for (const std::string& line : lines_of(text)) {
    if (line.empty() || line[0] == '#') continue;
    const Words words = words_of(line);
    if (words.empty()) continue;
    if (line[0] == '*') {
      table = line.substr(1);
    } else if (line[0] == ':' && words.size() >= 2) {
      FilterChain chain{std::string{tool}, table, words[0].substr(1), "", 0, "accept", {}};
      if (chain.name.starts_with("HEADRACE_")) continue;
      if (is_iptables_hook(chain.name)) {
        chain.hook = lower(chain.name);
        chain.priority = iptables_priority(table, chain.name);
        if (words[1] == "DROP") chain.policy = "drop";
      }
      chains.push_back(std::move(chain));
    } else if (words[0] == "-A" && words.size() >= 3) {
      const auto owner = std::find_if(chains.begin(), chains.end(), [&](const FilterChain& chain) {
        return chain.table == table && chain.name == words[1];
      });
      if (owner != chains.end()) owner->rules.push_back(line);
    }
  }
  return chains;
}

std::map<std::string, std::uint64_t> read_netstat(std::string_view text) {
  std::map<std::string, std::uint64_t> counters;
  Words names;
  for (const std::string& line : lines_of(text)) {
    Words words = words_of(line);
    if (words.empty() || words[0] != "TcpExt:") continue;
    if (names.empty()) {
      names = std::move(words);
      continue;
    }
    for (std::size_t i = 1; i < std::min(names.size(), words.size()); ++i)
      counters[names[i]] = std::strtoull(words[i].c_str(), nullptr, 10);
    break;
  }
  return counters;
}

bool has_large_receive(std::string_view text) {
  return text.find("large-receive-offload: on") != std::string_view::npos;
}

Capabilities read_capabilities(std::string_view status) {
  const std::string effective = word_after(words_of(status), "CapEff:");
  std::uint64_t bits = 0;
  std::from_chars(effective.data(), effective.data() + effective.size(), bits, 16);
  const auto has_bit = [bits](unsigned number) { return ((bits >> number) & 1) != 0; };
  Capabilities capabilities;
  capabilities.net_admin = has_bit(CAP_NET_ADMIN);
  capabilities.net_raw = has_bit(CAP_NET_RAW);
  capabilities.net_bind_service = has_bit(CAP_NET_BIND_SERVICE);
  capabilities.bpf = has_bit(CAP_BPF) || has_bit(CAP_SYS_ADMIN);
  capabilities.sys_resource = has_bit(CAP_SYS_RESOURCE);
  return capabilities;
}

}  // namespace headrace::doctor
