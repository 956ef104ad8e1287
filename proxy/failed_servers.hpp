// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "deploy/diversion_elements.hpp"
#include "policy/flow.hpp"
#include "policy/units.hpp"
#include "proxy/counters.hpp"
#include "proxy/log.hpp"
#include "proxy/loop.hpp"

namespace headrace {

// Flows whose server could not be reached, on their way into the packet filter, which then leaves the
// client's further connections to that server and port to the kernel for a while: a client that was accepted
// early and reset hears, when it tries again, what the server or the network says itself. One worker's, on
// its thread.
//
// An element names the client too. Who is refused may be refused alone: by a firewall that rejects a network,
// a limit per client, a server that knows whom it serves. If the destination alone were kept, one such client
// that goes on trying would keep everybody's connections to a good server from being accelerated; so it is
// only its own (all of them, where many hide behind one address). The price: of a server that is down each
// client sees one reset, instead of the first alone. So a time-out may count too: a server whose queue is
// full, or a short timeouts.connect, concerns who met it and no one else. Spoofed SYNs put nothing in: a
// connection is tried only for a client that has completed its own handshake.
class FailedServers {
 public:
  FailedServers(Log& log, Counters& counters) : log_{log}, counters_{counters} {}

  void note(const Flow& flow);
  // Puts in what was noted, in as few transactions as possible. To be called before the clients hear: their
  // next SYN may come right behind the reset. Without `timeout` nothing is kept.
  void write(std::optional<Duration> timeout, Instant now) noexcept;

 private:
  int put(std::span<const TimedElement> elements) noexcept;
  void failed(int code, Instant now) noexcept;

  Log& log_;
  Counters& counters_;
  std::vector<Flow> noted_;
  std::optional<DiversionElements> elements_;  // from the first time on
  Instant try_again_ = Instant::min();
  int told_ = 0;
};

// What the packet filter has of them, from the kernel: 0 where nothing is diverted.
struct FailedNow {
  std::size_t servers = 0;  // elements: of as many pairs of a client and a server's port
  std::uint64_t syns = 0;   // left to the kernel for them since the rules went in
};
FailedNow failed_now() noexcept;

}  // namespace headrace
