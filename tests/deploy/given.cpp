// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/deploy/given.hpp"

#include <stdexcept>

namespace headrace::given {
namespace {

template <class T>
const T& require(const Parsed<T>& parsed) {
  if (!parsed) throw std::invalid_argument(parsed.complaint());
  return *parsed;
}

Policy policy(const PolicyText& text) {
  Policy policy;
  policy.match.from = prefixes(text.from);
  policy.match.to = prefixes(text.to);
  for (const std::string& range : text.ports) policy.match.ports.push_back(require(parse_port_range(range)));
  policy.decision.action = text.take == "bypass" ? Action::bypass : Action::accelerate;
  if (text.verified) policy.decision.accept = Accept::verified;
  return policy;
}

// Classes by name, in order of first use, as group_into_classes makes them from profiles.
void add_class(Host& host, std::size_t index, const std::string& name) {
  for (std::size_t i = 0; i < host.classes.classes.size(); ++i) {
    if (host.classes.classes[i].key != name) continue;
    host.classes.classes[i].policies.push_back(index);
    host.classes.of_policy.emplace_back(i);
    return;
  }
  host.classes.of_policy.emplace_back(host.classes.classes.size());
  host.classes.classes.push_back({{}, name, {index}});
  host.ports.push_back(static_cast<std::uint16_t>(18500 + host.ports.size()));
}

}  // namespace

std::vector<Prefix> prefixes(const std::vector<std::string>& texts) {
  std::vector<Prefix> found;
  for (const std::string& text : texts) {
    if (text == "any") {
      found.push_back(require(parse_prefix("0.0.0.0/0")));
      found.push_back(require(parse_prefix("::/0")));
    } else {
      found.push_back(require(parse_prefix(text)));
    }
  }
  return found;
}

Host::Host(const std::vector<PolicyText>& texts) {
  settings.intercept.interfaces = {"eth0"};
  std::vector<Policy> policies;
  for (const PolicyText& text : texts) {
    policies.push_back(policy(text));
    if (text.take == "bypass") {
      classes.of_policy.emplace_back(std::nullopt);
    } else {
      add_class(*this, policies.size() - 1, text.take);
    }
  }
  table = PolicyTable{std::move(policies)};
}

}  // namespace headrace::given
