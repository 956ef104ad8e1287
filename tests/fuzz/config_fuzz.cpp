// SPDX-License-Identifier: GPL-3.0-or-later
// A whole configuration through the loader: headrace.toml, and after a line "===" a policy file. It is taken
// or refused with problems that have a text; nothing else may happen.
#include <cstdlib>

#include "config/load.hpp"

namespace {

using namespace headrace;

Environment kernel() {
  Environment environment;
  environment.kernel = {6, 18};
  environment.congestion_controls = {"reno", "bbr", "cubic"};
  environment.default_congestion = "bbr";
  environment.receive_limit = Bytes{212992};
  return environment;
}

void use(const Configuration& configuration) {
  const PolicyTable& table = *configuration.policies;
  for (const Policy& policy : table.policies()) {
    if (policy.match.to.empty()) continue;  // there to be named by others
    const Flow flow{{{IpAddress::v4({198, 18, 20, 1}), 40000}}, {{policy.match.to.front().base(), 1521}}};
    const Policy* decided = table.decide(flow);
    if (policy.match.matches(flow) && (decided == nullptr || decided > &policy)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kBetween = "\n===\n";
  std::string text;
  text.assign(data, data + size);
  std::vector<ConfigText> texts{{"headrace.toml", text}};
  if (const auto at = text.find(kBetween); at != text.npos) {
    texts = {{"headrace.toml", text.substr(0, at + 1)}, {"10-fuzz.toml", text.substr(at + kBetween.size())}};
  }
  try {
    use(load_configuration_text(texts, kernel()));
  } catch (const ConfigError& error) {
    if (error.problems().empty()) std::abort();
    for (const Problem& problem : error.problems()) {
      if (problem.text.empty()) std::abort();
    }
  }
  return 0;
}
