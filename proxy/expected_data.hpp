// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "config/settings.hpp"
#include "deploy/diversion_elements.hpp"
#include "deploy/net_plan.hpp"
#include "policy/flow.hpp"
#include "policy/listener_class.hpp"
#include "policy/policy_table.hpp"
#include "proxy/loop.hpp"

namespace headrace {

// Whether data flows for a control session, as it and its data sessions tell each other: these may be any
// worker's.
class DataActivity {
 public:
  void began() { live_.fetch_add(1, std::memory_order_relaxed); }
  void ended(Instant now) {
    ended_.store(now, std::memory_order_relaxed);
    live_.fetch_sub(1, std::memory_order_release);
  }
  bool is_live() const { return live_.load(std::memory_order_acquire) > 0; }
  Instant last_ended() const { return ended_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int> live_{0};
  std::atomic<Instant> ended_{Instant::min()};
};

// A data connection that a control channel has announced and that has not come yet.
struct ExpectedData {
  IpAddress from;  // who will connect
  Endpoint to;     // where to
  std::shared_ptr<const Decision> decision;
  IpAddress client;            // in whose share of the sessions it counts: the FTP client's, whoever connects
  std::optional<Endpoint> as;  // of this host: what it goes on from; else as the decision says
  std::shared_ptr<DataActivity> control;
};

// The data connections that the packet filter is to bring, over all workers: each once, for a while. Every
// entry is here and, as a timed element that leads to its listener class, in table inet headrace; without the
// element (its class has no listener, the packet filter refuses, iptables) the connection goes the way of any
// other, and is still known if a policy brings it. Any thread.
class ExpectedConnections {
 public:
  // As long as vsftpd waits for the one to connect or the other to answer (accept_timeout, connect_timeout).
  static constexpr std::chrono::seconds kLife{60};

  // 0, or why the packet filter did not take it. Replaces what is expected at the same place.
  int add(const ExpectedData& data, Instant now);
  // Only what the same control session expects there.
  void remove(const ExpectedData& data, Instant now);
  // The one that this flow is, which is then no longer expected.
  std::optional<ExpectedData> take(const Flow& flow, Instant now);

  // The rules are about to be replaced, and elements with them: none is added meanwhile.
  void suspend();
  // Rules with these classes are in; those still expected get their elements again. `elements` may be empty.
  void resume(const InterceptSettings& intercept, const ListenerClasses& classes, const ClassPorts& ports,
              Instant now);

 private:
  using Place = std::tuple<IpAddress, IpAddress, std::uint16_t>;  // from, to, port
  struct Entry {
    ExpectedData data;
    Instant until;
  };

  static Place place_of(const ExpectedData& data) { return {data.from, data.to.address, data.to.port}; }
  int put(const Entry& entry, Instant now);
  void forget(std::map<Place, Entry>::iterator entry, Instant now);

  std::mutex mutex_;
  std::map<Place, Entry> entries_;
  std::atomic<std::size_t> size_{0};  // of entries_: most connections need not wait for the mutex
  std::unique_ptr<DiversionElements> elements_;
  std::map<std::string, std::string> chains_;  // by the key of a class
  std::vector<Exemption> never_;
};

}  // namespace headrace
