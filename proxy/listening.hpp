// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "deploy/net_plan.hpp"
#include "policy/listener_class.hpp"
#include "proxy/listener.hpp"

// Opens the listening sockets of a configuration: per listener class and family one for each worker
// (SO_REUSEPORT), plus the explicit forwarders. Control zone: throws std::runtime_error "attempt: reason"
// and then leaves nothing open.
namespace headrace {

// Which port a class has, by the class's key. A class keeps its port over a reload.
using PortsByKey = std::map<std::string, std::uint16_t>;

struct Listening {
  std::vector<std::vector<OpenListener>> per_worker;  // only what is new, to be handed to the workers
  PortsByKey ports_by_key;
  ClassPorts ports;              // same index as the classes
  std::vector<Endpoint> places;  // every place that shall be listened at, new or kept
};

// `kept` are classes whose listeners are already open. `failed` hears of settings a listener would not take.
Listening open_class_listeners(const Settings& settings, const ListenerClasses& classes,
                               const PortsByKey& kept, std::size_t workers, bool ipv6,
                               const LegStorage* storage, const FailedCall& failed);
void open_forward_listeners(const Settings& settings, std::size_t workers, const LegStorage* storage,
                            const FailedCall& failed, Listening& listening);

// Handshakes that wait for their last ACK (SYN_RECV) in this network namespace: closing a listener now
// would reset them.
std::size_t handshakes_in_flight();
// Connections whose last bytes or whose FIN the peer has not acknowledged (FIN_WAIT1, LAST_ACK, CLOSING).
std::size_t closings_in_flight();

}  // namespace headrace
