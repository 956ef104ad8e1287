// SPDX-License-Identifier: GPL-3.0-or-later
// One PolicyTable::decide, for three shapes of rule set. Half of the flows match nothing.
#include <benchmark/benchmark.h>

#include "tests/policy/policies.hpp"

namespace {

using namespace headrace;
using headrace::testing::Corner;

enum class Shape { hosts, lengths, sources };

constexpr std::size_t kFlows = 1U << 16U;  // enough that the caches do not know the next one

IpAddress numbered(std::uint8_t first, std::uint32_t number) {
  return IpAddress::v4({first, static_cast<std::uint8_t>(number >> 16U),
                        static_cast<std::uint8_t>(number >> 8U), static_cast<std::uint8_t>(number)});
}

Policy shaped(Shape shape, std::uint32_t number) {
  Policy policy;
  const Prefix host = Prefix::host(numbered(10, number));
  // A host each; lengths from /16 to /32; a hub whose branches each have a policy to anywhere.
  policy.match.to = {shape == Shape::hosts     ? host
                     : shape == Shape::lengths ? Prefix{numbered(10, number), 16 + number % 17}
                                               : Prefix{}};
  if (shape == Shape::sources) policy.match.from = {host};
  policy.match.ports = {PortRange{1521, 1521}};
  return policy;
}

void lookup(benchmark::State& state, Shape shape) {
  const auto count = static_cast<std::uint32_t>(state.range(0));
  std::vector<Policy> policies;
  for (std::uint32_t i = 0; i < count; ++i) policies.push_back(shaped(shape, i));
  const PolicyTable table{std::move(policies)};
  Corner random{1};
  std::vector<Flow> flows(kFlows);
  for (Flow& flow : flows) {
    flow.client.value = {numbered(10, random.below(2 * count)), 40000};
    flow.destination.value = {numbered(10, random.below(2 * count)), 1521};
  }
  std::size_t next = 0;
  for (auto unused : state) {
    benchmark::DoNotOptimize(table.decide(flows[next]));
    next = (next + 1) % kFlows;
  }
}

BENCHMARK_CAPTURE(lookup, hosts, Shape::hosts)->RangeMultiplier(10)->Range(10, 100'000);
BENCHMARK_CAPTURE(lookup, lengths, Shape::lengths)->RangeMultiplier(10)->Range(10, 100'000);
BENCHMARK_CAPTURE(lookup, sources, Shape::sources)->RangeMultiplier(10)->Range(10, 100'000);

}  // namespace
