// SPDX-License-Identifier: GPL-3.0-or-later
// group_into_classes over all policies, as each start and each reload does it: policies share few profiles.
#include <benchmark/benchmark.h>

#include "policy/listener_class.hpp"

namespace {

using namespace headrace;

constexpr std::uint32_t kProfiles = 8;

std::vector<SharedTreatment> treatments() {
  std::vector<SharedTreatment> made;
  for (std::uint32_t i = 0; i < kProfiles; ++i) {
    Profile profile;
    profile.mss = {Mss::Mode::fixed, 1000 + 50 * i};
    made.push_back(make_treatment("p" + std::to_string(i), profile, Side::client));
  }
  return made;
}

void grouping(benchmark::State& state) {
  const std::vector<SharedTreatment> shared = treatments();
  std::vector<Policy> policies(static_cast<std::size_t>(state.range(0)));
  for (std::size_t i = 0; i < policies.size(); ++i) {
    policies[i].match.to = {
        Prefix::host(IpAddress::v4({10, static_cast<std::uint8_t>(i >> 16U),
                                    static_cast<std::uint8_t>(i >> 8U), static_cast<std::uint8_t>(i)}))};
    policies[i].decision.client_leg = policies[i].decision.server_leg = shared[i % kProfiles];
  }
  const PolicyTable table{std::move(policies)};
  for (auto unused : state) benchmark::DoNotOptimize(group_into_classes(table));
}

BENCHMARK(grouping)->RangeMultiplier(10)->Range(10, 100'000);

}  // namespace
