// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/failed_servers.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include "deploy/net_plan.hpp"
#include "proxy/result.hpp"

namespace headrace {
namespace {

// What fails once fails for all, and each time holds the worker up for the milliseconds of a transaction that
// is undone: a client that fills the set by scanning ports must not slow others down.
constexpr std::chrono::seconds kPause{1};

TimedElement element_of(const Flow& flow, Duration timeout) {
  const IpAddress& client = flow.client.value.address;
  const Endpoint& server = flow.destination.value;
  return {client.is_v4() ? kFailedIpv4 : kFailedIpv6,
          element_key(client, server.address, server.port),
          timeout,
          {}};
}

}  // namespace

void FailedServers::note(const Flow& flow) { noted_.push_back(flow); }

void FailedServers::write(std::optional<Duration> timeout, Instant now) noexcept {
  if (noted_.empty()) return;
  const std::vector<Flow> noted = std::exchange(noted_, {});
  if (!timeout) return;
  std::vector<TimedElement> elements;
  for (const Flow& flow : noted) {
    elements.push_back(element_of(flow, *timeout));
    if (elements.size() < DiversionElements::kMostAtOnce && &flow != &noted.back()) continue;
    if (now < try_again_) return;
    if (const int code = put(elements); code == 0)
      counters_.left_direct(elements.size());
    else
      failed(code, now);
    elements.clear();
  }
}

int FailedServers::put(std::span<const TimedElement> elements) noexcept {
  try {
    if (!elements_) elements_.emplace();
  } catch (const std::system_error& error) {
    return error.code().value();
  }
  return elements_->add(elements);
}

void FailedServers::failed(int code, Instant now) noexcept {
  try_again_ = now + kPause;
  // Nothing is diverted any more: the next connection goes direct in any case.
  if (code == ENOENT || std::exchange(told_, code) == code) return;
  log_.warning("leave failed servers to the kernel: " + print(SystemError{"set element", code}) +
               ": clients that try again are taken again");
}

FailedNow failed_now() noexcept {
  try {
    DiversionElements elements;
    return {elements.count(kFailedIpv4).value_or(0) + elements.count(kFailedIpv6).value_or(0),
            elements.packets(kSynFailedCounter).value_or(0)};
  } catch (const std::system_error&) {
    return {};
  }
}

}  // namespace headrace
