// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/parse_policies.hpp"

#include <algorithm>

#include "config/parse_app.hpp"

namespace headrace {
namespace {

std::string quoted(std::string_view text) { return "\"" + std::string{text.substr(0, 80)} + "\""; }

constexpr std::string_view kToAccepted = R"(addresses, prefixes, "@GROUP" or "any")";

}  // namespace

void Groups::define(const Source& source, const TomlTable& groups) {
  for (const TomlEntry& entry : groups) {
    const std::string key = "group." + entry.key;
    if (!is_name(entry.key)) {
      source.error(entry.place,
                   "group: " + quoted(entry.key) + " is no name (" + std::string{kNameAccepted} + ")");
      continue;
    }
    const auto [group, is_new] = groups_.try_emplace(entry.key);
    if (!is_new) {
      source.error(entry.place,
                   "group " + quoted(entry.key) + " is defined already (" + brief(group->second.where) + ")");
      continue;
    }
    group->second.where = source.at(entry.place);
    const auto* array = std::get_if<TomlArray>(&entry.node.value);
    if (array == nullptr || array->empty()) {
      source.error(entry.node.place, key + ": " +
                                         (array == nullptr ? describe(entry.node) : "an empty array") +
                                         " is not accepted (an array of addresses and prefixes)");
      continue;
    }
    for (const TomlNode& item : *array) {
      const auto* text = std::get_if<std::string>(&item.value);
      const auto prefix = parse_prefix(text == nullptr ? std::string_view{} : *text);
      if (text != nullptr && (text->starts_with('@') || *text == "any")) {
        source.error(item.place,
                     key + ": " + quoted(*text) + " is not accepted (addresses and prefixes, no groups)");
      } else if (text == nullptr) {
        source.error(item.place, key + ": " + describe(item) + " is not accepted (addresses and prefixes)");
      } else if (!prefix) {
        source.error(item.place, key + ": " + prefix.complaint());
      } else {
        group->second.prefixes.push_back(*prefix);
      }
    }
  }
}

void Groups::expand(const Source& source, Place place, std::string_view key, const std::string& name,
                    std::vector<Prefix>& into) const {
  const auto found = groups_.find(name);
  if (found != groups_.end()) {
    into.insert(into.end(), found->second.prefixes.begin(), found->second.prefixes.end());
    return;
  }
  std::set<std::string> known;
  for (const auto& [candidate, group] : groups_) known.insert(candidate);
  source.error(place, std::string{key} + ": " + unknown("group", name, known));
}

void PolicyReader::read(const Source& source, const TomlNode& node) {
  const std::size_t before = source.errors();
  Policy policy;
  policy.where = source.at(node.place);
  AppDraft app;
  bool has_to = true;
  {
    TableReader reader{source, std::get<TomlTable>(node.value), ""};
    read_name(source, reader, node.place, policy);
    policy.match.from = prefixes(source, reader, "from");
    policy.match.to = prefixes(source, reader, "to");
    policy.match.ports = ports(reader);
    reader.choice("action", {{"accelerate", Action::accelerate}, {"bypass", Action::bypass}},
                  policy.decision.action);
    read_connect_as(reader, policy.decision);
    read_accept(reader, policy.decision);
    read_legs(source, reader, node.place, policy.decision);
    app = read_app(reader, policy.decision);
    has_to = reader.take("to") != nullptr;
    if (!has_to && (reader.take("from") != nullptr || reader.take("ports") != nullptr))
      missing_to(source, node.place, policy.decision.policy);
  }
  warn_of_mirror(source, node.place, policy);
  // A leg without a treatment: its profile is broken and was reported where it stands.
  const Decision& decision = policy.decision;
  const bool treated = decision.action == Action::bypass || (decision.client_leg && decision.server_leg);
  if (source.errors() != before || !treated) return;
  if (app.ftp) apps_.push_back({&source, app.data_policy, policies_.size()});
  if (!has_to) without_to_.push_back({&source, &node, policies_.size()});
  policies_.push_back(std::move(policy));
}

void PolicyReader::missing_to(const Source& source, Place place, const std::string& name) {
  source.error(place, "policy " + quoted(name) + " has no to (" + std::string{kToAccepted} + ")");
}

AppDraft PolicyReader::read_app(TableReader& reader, const Decision& decision) {
  const AppDraft app = parse_app(reader);
  if (app.data_policy != nullptr) named_.insert(std::get<std::string>(app.data_policy->value));
  if (app.ftp && decision.action == Action::bypass)
    reader.error(*reader.take("app"), "app",
                 "a policy with action = \"bypass\" follows nothing (leave it out)");
  return app;
}

std::shared_ptr<const DataDecisions> PolicyReader::data_policy(const Source& source, std::string_view key,
                                                               const TomlNode& node) {
  const std::string& name = std::get<std::string>(node.value);
  named_.insert(name);
  const auto found = std::find_if(policies_.begin(), policies_.end(),
                                  [&](const Policy& policy) { return policy.decision.policy == name; });
  const std::string lead = std::string{key} + ": ";
  if (found == policies_.end()) {
    std::set<std::string> known;
    for (const auto& [candidate, where] : names_) known.insert(candidate);
    // A policy that is there and bad was reported where it stands.
    if (!known.contains(name)) source.error(node.place, lead + unknown("policy", name, known));
    return nullptr;
  }
  if (found->decision.action == Action::bypass) {
    source.error(node.place, lead + quoted(name) + " has action = \"bypass\" (a policy that accelerates)");
    return nullptr;
  }
  return data_decisions(found->decision);
}

// A policy that matches nothing is there to be named.
std::vector<Policy> PolicyReader::take() {
  for (const auto& [source, node, at] : apps_) {
    Decision& decision = policies_[at].decision;
    decision.data = node != nullptr ? data_policy(*source, "data_policy", *node) : data_decisions(decision);
  }
  for (const auto& [source, node, at] : without_to_) {
    const std::string& name = policies_[at].decision.policy;
    if (!named_.contains(name)) missing_to(*source, node->place, name);
  }
  return std::move(policies_);
}

// deploy/nft_text says why.
void PolicyReader::warn_of_mirror(const Source& source, Place place, const Policy& policy) {
  const SharedTreatment& leg = policy.decision.client_leg;
  const auto is_v6 = [](const Prefix& prefix) { return prefix.base().family() == Family::ipv6; };
  const Match& match = policy.match;
  if (!leg || leg->settings.mss.mode != Mss::Mode::mirror) return;
  if (std::none_of(match.to.begin(), match.to.end(), is_v6)) return;
  if (!match.from.empty() && std::none_of(match.from.begin(), match.from.end(), is_v6)) return;
  source.warn(place,
              "policy " + quoted(policy.decision.policy) +
                  ": mss = \"mirror\" on the client leg is done for IPv4 flows; to IPv6 clients this host "
                  "announces its own size");
}

void PolicyReader::read_name(const Source& source, TableReader& reader, Place place, Policy& policy) {
  const TomlNode* node = reader.take("name");
  const auto* text = node == nullptr ? nullptr : std::get_if<std::string>(&node->value);
  if (node == nullptr) {
    source.error(place, "policy has no name (logs and counters go by it)");
  } else if (text == nullptr || !is_name(*text)) {
    reader.refuse(*node, "name", kNameAccepted);
  } else if (const auto [first, is_new] = names_.try_emplace(*text, policy.where); !is_new) {
    reader.error(*node, "name",
                 quoted(*text) + " is the name of another policy (" + brief(first->second) + ")");
  }
  if (text != nullptr) policy.decision.policy = *text;
}

std::vector<Prefix> PolicyReader::prefixes(const Source& source, TableReader& reader,
                                           std::string_view key) const {
  std::vector<Prefix> all;
  const TomlNode* node = reader.take(key);
  if (node == nullptr) return all;
  const auto items = list_items(*node);
  if (items.empty()) reader.refuse(*node, key, kToAccepted);
  for (const TomlNode* item : items) {
    const auto* text = std::get_if<std::string>(&item->value);
    if (text == nullptr) {
      reader.refuse(*item, key, kToAccepted);
    } else if (*text == "any") {
      if (items.size() > 1) reader.error(*item, key, "\"any\" beside others says nothing (\"any\" alone)");
      if (key == "to") all = {Prefix{IpAddress{}, 0}, Prefix{IpAddress::v6({}), 0}};
    } else if (text->starts_with('@')) {
      groups_.expand(source, item->place, key, text->substr(1), all);
    } else if (const auto prefix = parse_prefix(*text)) {
      all.push_back(*prefix);
    } else {
      reader.error(*item, key, prefix.complaint());
    }
  }
  return all;
}

std::vector<PortRange> PolicyReader::ports(TableReader& reader) {
  constexpr std::string_view kAccepted = R"(ports 1-65535 and ranges like "1600-1610")";
  std::vector<PortRange> all;
  const TomlNode* node = reader.take("ports");
  if (node == nullptr) return all;
  const auto items = list_items(*node);
  if (items.empty()) reader.refuse(*node, "ports", kAccepted);
  for (const TomlNode* item : items) {
    const auto* text = std::get_if<std::string>(&item->value);
    const auto* number = std::get_if<std::int64_t>(&item->value);
    if (text == nullptr && number == nullptr) {
      reader.refuse(*item, "ports", kAccepted);
      continue;
    }
    const auto range = parse_port_range(text != nullptr ? *text : std::to_string(*number));
    if (range) {
      all.push_back(*range);
    } else {
      reader.error(*item, "ports", range.complaint());
    }
  }
  return all;
}

void PolicyReader::read_connect_as(TableReader& reader, Decision& decision) const {
  const bool can_spoof = intercept_.mode != InterceptMode::redirect;
  decision.connect_as = can_spoof ? ConnectAs::client : ConnectAs::proxy;
  reader.choice("connect_as",
                {{"client", ConnectAs::client},
                 {"client-address", ConnectAs::client_address},
                 {"proxy", ConnectAs::proxy}},
                decision.connect_as);
  const TomlNode* node = reader.take("connect_as");
  if (node == nullptr || can_spoof || decision.connect_as == ConnectAs::proxy) return;
  reader.error(*node, "connect_as",
               quoted(print(decision.connect_as)) +
                   " needs intercept.mode = \"tproxy\" (in mode \"redirect\" only \"proxy\")");
}

void PolicyReader::read_accept(TableReader& reader, Decision& decision) {
  reader.choice("accept", {{"early", Accept::early}, {"verified", Accept::verified}}, decision.accept);
  if (decision.accept != Accept::verified || decision.action == Action::bypass) return;
  if (const std::string reason = why_not_verified(); !reason.empty())
    reader.error(*reader.take("accept"), "accept", "\"verified\" " + reason);
}

std::string PolicyReader::why_not_verified() {
  if (why_not_verified_) return *why_not_verified_;
  std::string reason;
  // What the server refuses is forwarded to it, and where traffic is redirected nothing may be forwarded.
  if (intercept_.mode == InterceptMode::redirect)
    reason = "needs intercept.mode = \"tproxy\" (\"early\")";
  else if (!intercept_.mark.has_room_for(intercept_.mark.direct_mark()))
    reason = "needs seven next values under the mask of intercept.mark (a wider mask, or \"early\")";
  else if (no_syn_queue_)
    reason = no_syn_queue_(intercept_.firewall);
  return why_not_verified_.emplace(std::move(reason));
}

void PolicyReader::read_legs(const Source& source, TableReader& reader, Place place, Decision& decision) {
  const TomlNode* client = reader.take("client_leg");
  const TomlNode* server = reader.take("server_leg");
  if (decision.action == Action::accelerate) {
    profiles_.mirror_on_client_legs(decision.accept == Accept::verified &&
                                    decision.connect_as == ConnectAs::client &&
                                    intercept_.firewall == Firewall::nft);
    decision.client_leg = profiles_.leg(source, client, Side::client, place);
    decision.server_leg = profiles_.leg(source, server, Side::server, place);
    return;
  }
  for (const auto& [node, key] :
       {std::pair{client, "client_leg"}, std::pair{server, "server_leg"},
        std::pair{reader.take("connect_as"), "connect_as"}, std::pair{reader.take("accept"), "accept"}}) {
    if (node != nullptr)
      reader.error(*node, key, "a policy with action = \"bypass\" has no legs (leave it out)");
  }
}

}  // namespace headrace
