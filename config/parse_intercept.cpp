// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/parse_intercept.hpp"

#include <algorithm>

namespace headrace {
namespace {

// IFNAMSIZ is 16 with the NUL. The characters are limited to what is safe in a rule set's text.
bool is_interface(std::string_view name) {
  if (name.ends_with('*')) name.remove_suffix(1);
  const auto good = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') ||
           std::string_view{"._-@:"}.find(c) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= 15 && std::all_of(name.begin(), name.end(), good);
}

void parse_interfaces(TableReader& reader, InterceptSettings& into) {
  constexpr std::string_view kAccepted = R"(names of interfaces like "eth1" or "ppp*")";
  const TomlNode* node = reader.take("interfaces");
  if (node == nullptr) return;
  into.interfaces.clear();
  for (const TomlNode* item : list_items(*node)) {
    const auto* text = std::get_if<std::string>(&item->value);
    if (text == nullptr || !is_interface(*text)) {
      reader.refuse(*item, "interfaces", kAccepted);
    } else if (std::find(into.interfaces.begin(), into.interfaces.end(), *text) != into.interfaces.end()) {
      reader.error(*item, "interfaces", "\"" + *text + "\" is there twice");
    } else {
      into.interfaces.push_back(*text);
    }
  }
}

bool is_ports(std::string_view text) { return text.find_first_not_of("0123456789-") == text.npos; }

// "198.18.0.0/15", "198.18.1.2:22", "[2001:db8::/32]:22", "22", "20-21"
Parsed<Exemption> parse_exemption(std::string_view text) {
  std::string_view address = text;
  std::string_view ports;
  if (is_ports(text)) {
    address = {};
    ports = text;
  } else if (const auto close = text.find("]:"); text.starts_with('[') && close != text.npos) {
    address = text.substr(1, close - 1);
    ports = text.substr(close + 2);
  } else if (const auto colon = text.find(':'); colon != text.npos && colon == text.rfind(':')) {
    address = text.substr(0, colon);
    ports = text.substr(colon + 1);
  }
  Exemption exemption;
  if (!address.empty()) {
    const auto prefix = parse_prefix(address);
    if (!prefix) return Complaint{prefix.complaint()};
    exemption.to = *prefix;
  }
  if (address.size() != text.size()) {
    const auto range = parse_port_range(ports);
    if (!range) return Complaint{range.complaint()};
    exemption.ports = *range;
  }
  return exemption;
}

void parse_never(TableReader& reader, InterceptSettings& into) {
  const TomlNode* node = reader.take("never");
  if (node == nullptr) return;
  for (const TomlNode* item : list_items(*node)) {
    const auto* number = std::get_if<std::int64_t>(&item->value);
    const auto* text = std::get_if<std::string>(&item->value);
    if (number == nullptr && text == nullptr) {
      reader.refuse(*item, "never",
                    R"(addresses, prefixes, ports or both: "198.18.0.0/15", 22, "198.18.1.2:22")");
      continue;
    }
    const auto exemption = parse_exemption(text != nullptr ? *text : std::to_string(*number));
    if (exemption) {
      into.never.push_back(*exemption);
    } else {
      reader.error(*item, "never", exemption.complaint());
    }
  }
}

Parsed<MarkAndMask> parse_mark(std::string_view text) {
  const auto bad = [&](std::string_view what) {
    return Complaint{"\"" + std::string{text.substr(0, 40)} + "\" " + std::string{what} +
                     R"( (a mark and its mask, like "0x00480000/0x00ff0000"))"};
  };
  const auto slash = text.find('/');
  if (slash == text.npos) return bad("has no mask");
  const auto mark = parse_number(text.substr(0, slash), 1, UINT32_MAX);
  const auto mask = parse_number(text.substr(slash + 1), 1, UINT32_MAX);
  if (!mark || !mask) return bad("is not a mark");
  MarkAndMask both;
  both.mark = static_cast<std::uint32_t>(*mark);
  both.mask = static_cast<std::uint32_t>(*mask);
  if ((both.mark & ~both.mask) != 0) return bad("has bits outside its mask");
  const std::uint32_t lowest = both.mask & (~both.mask + 1);
  const std::uint64_t run = std::uint64_t{both.mask} / lowest + 1;
  if ((run & (run - 1)) != 0) return bad("has a mask with gaps");
  // The next four values are the server legs'; sums that leave the mask wrap around or touch other bits.
  const std::uint32_t last = both.last_server_mark();
  if ((last & both.mask) != last || last < both.mark) return bad("leaves no four next values under its mask");
  return both;
}

}  // namespace

void parse_intercept(const Source& source, const TomlTable& table, InterceptSettings& into) {
  TableReader reader{source, table, "intercept."};
  reader.choice(
      "mode",
      {{"tproxy", InterceptMode::tproxy}, {"redirect", InterceptMode::redirect}, {"off", InterceptMode::off}},
      into.mode);
  reader.choice("firewall", {{"nft", Firewall::nft}, {"iptables", Firewall::iptables}}, into.firewall);
  parse_interfaces(reader, into);
  parse_never(reader, into);
  reader.parsed("listener_ports", parse_port_range, into.listener_ports, R"(a range like "18500-18627")");
  reader.parsed("mark", parse_mark, into.mark, R"(a mark and its mask, like "0x00480000/0x00ff0000")");
  reader.parsed("state_file", parse_absolute_path, into.state_file, "an absolute path");
  reader.number("queue", 0, UINT16_MAX,
                [&](std::uint64_t number) { into.queue = static_cast<std::uint16_t>(number); });
  const TomlNode* table_node = reader.take("table");
  reader.number("table", 1, UINT32_MAX, [&](std::uint64_t number) {
    // local, main and default (rtnetlink.h); compat (252) is not used.
    if (number >= 253 && number <= 255) {
      reader.error(*table_node, "table",
                   std::to_string(number) + " is one of the kernel's own (another number)");
    } else {
      into.table = static_cast<std::uint32_t>(number);
    }
  });
}

}  // namespace headrace
