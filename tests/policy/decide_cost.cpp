// SPDX-License-Identifier: GPL-3.0-or-later
// What one PolicyTable::decide costs at 100,000 policies, for three shapes of rule set. Prints nanoseconds.
#include <cstdio>
#include <ctime>

#include "tests/policy/policies.hpp"

namespace {

using namespace headrace;
using headrace::testing::Corner;

constexpr std::uint32_t kPolicies = 100'000;

// The thread's own, so that a busy machine does not count.
double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

IpAddress numbered(std::uint8_t first, std::uint32_t number) {
  return IpAddress::v4({first, static_cast<std::uint8_t>(number >> 16U),
                        static_cast<std::uint8_t>(number >> 8U), static_cast<std::uint8_t>(number)});
}

Policy shaped(int shape, std::uint32_t number) {
  Policy policy;
  const Prefix host = Prefix::host(numbered(10, number));
  // 0: a host each; 1: lengths from /16 to /32; 2: a hub whose branches each have a policy to anywhere.
  policy.match.to = {shape == 0   ? host
                     : shape == 1 ? Prefix{numbered(10, number), 16 + number % 17}
                                  : Prefix{}};
  if (shape == 2) policy.match.from = {host};
  policy.match.ports = {PortRange{1521, 1521}};
  return policy;
}

void measure(int shape, const char* name) {
  std::vector<Policy> policies;
  for (std::uint32_t i = 0; i < kPolicies; ++i) policies.push_back(shaped(shape, i));
  const PolicyTable table{std::move(policies)};
  Corner random{1};
  std::vector<Flow> flows(200'000);
  for (Flow& flow : flows) {
    flow.client.value = {numbered(10, random.below(2 * kPolicies)), 40000};
    flow.destination.value = {numbered(10, random.below(2 * kPolicies)), 1521};
  }
  std::size_t matched = 0;
  const double start = processor_time();
  for (const Flow& flow : flows) matched += table.decide(flow) != nullptr ? 1U : 0U;
  const double took = processor_time() - start;
  std::printf("%-34s %6.0f ns a decision, %zu of %zu matched\n", name,
              took / static_cast<double>(flows.size()), matched, flows.size());
}

}  // namespace

int main() {
  measure(0, "100,000 hosts");
  measure(1, "17 prefix lengths");
  measure(2, "100,000 sources to anywhere");
}
