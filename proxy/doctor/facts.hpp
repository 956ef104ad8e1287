// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/environment.hpp"
#include "config/load.hpp"
#include "config/settings.hpp"
#include "policy/address.hpp"

// What `headrace doctor` knows of the host: plain values, read once, judged elsewhere (checks.hpp). A test
// makes them up.
namespace headrace::doctor {

struct Interface {
  std::string name;
  unsigned mtu = 0;
  bool up = false;
  std::string kind;                   // "bridge", "vrf", "veth"; empty: hardware
  std::string master;                 // what it is enslaved to
  std::string member_of;              // the kind of that master where it matters: "bridge", "vrf"
  bool large_receive = false;         // LRO is on
  std::vector<std::string> queues{};  // kinds of its queueing disciplines: "fq", "noqueue"
  bool operator==(const Interface&) const = default;
};

struct IpRule {
  Family family = Family::ipv4;
  std::uint32_t preference = 0;
  std::optional<MarkAndMask> mark;
  std::string table;
  bool selects = false;  // by anything but a mark: a source, an interface ...
  std::string text;      // as `ip rule show` prints it, without the preference
  bool operator==(const IpRule&) const = default;
};

// A chain of any packet filter. iptables' own chains have the hook, type and priority that they stand for.
struct FilterChain {
  std::string tool;   // "nft", "iptables", "ip6tables"
  std::string table;  // "inet filter", "mangle"
  std::string name;
  std::string hook;  // "prerouting"; empty: only reached by jumps
  int priority = 0;
  std::string policy = "accept";
  std::vector<std::string> rules;
  bool operator==(const FilterChain&) const = default;
};

// The packet queue of accept = "verified", as the kernel has it.
struct PacketQueue {
  std::uint64_t waiting = 0;
  std::uint64_t dropped = 0;  // it or its reader was too slow
  bool operator==(const PacketQueue&) const = default;
};

struct Daemon {
  bool answers = false;
  bool rules_present = false;
  int pid = 0;  // in our pid namespace; 0: not visible there
  bool takes_new_flows = false;
  std::optional<std::uint64_t> accepted_since_rules{};
};

// How many SYNs came how far since our rules went in, by their own counters; empty: not counted.
struct SynCounts {
  std::optional<std::uint64_t> seen;     // by any interface, for anybody
  std::optional<std::uint64_t> arrived;  // by an interface of ours, neither from nor for this host
  std::optional<std::uint64_t> diverted;
  std::optional<std::uint64_t> no_listener;  // its class had none: forwarded
  bool operator==(const SynCounts&) const = default;
};

// A leg that sends the same data again and again.
struct StuckLeg {
  std::string peer;
  std::uint64_t queued = 0;   // bytes that the peer has not acknowledged, sent or not
  unsigned backoff = 0;       // timeouts in a row
  unsigned segment_size = 0;  // what it sends at most
  bool operator==(const StuckLeg&) const = default;
};

struct TcpSockets {
  std::vector<StuckLeg> stuck;  // of the daemon
  std::size_t half_open = 0;    // of this namespace: whose SYN-ACK waits for its ACK
  bool operator==(const TcpSockets&) const = default;
};

// Both directions of one flow, by the routes of this host alone.
struct Probe {
  Endpoint client;
  Endpoint to;                // port 0: none was given
  std::string client_device;  // by which this host reaches the client; empty: no route
  std::string server_device;  // by which a packet from the client to the server leaves; "lo": for this host
  std::string complaint;      // of `ip route get`
};

// The privileges that matter.
struct Capabilities {
  bool net_admin = false;
  bool net_raw = false;
  bool net_bind_service = false;
  bool bpf = false;
  bool sys_resource = false;
};

struct Facts {
  Environment environment;
  std::map<std::string, std::string> sysctls;     // full name -> value; absent: this kernel has none
  std::map<std::string, std::uint64_t> counters;  // of /proc/net/netstat, "SyncookiesSent"
  std::vector<Interface> interfaces;              // of this namespace, without lo
  std::vector<IpRule> ip_rules;                   // in the kernel's order
  std::vector<FilterChain> chains;                // of all packet filters but our own table and chains
  std::vector<std::string> unread;                // what could not be read, with the reason
  std::size_t next_hops = 0;                      // of the IPv4 default routes
  bool has_ipv6 = true;
  bool of_daemon = false;       // whose these two are: the running daemon's, or this process's
  std::size_t descriptors = 0;  // hard limit
  Capabilities capabilities;

  // With a configuration only.
  std::string rules_refused;                   // why the kernel would not take our rules; empty: it would
  std::string no_syn_queue;                    // why SYNs can't be held, where a policy wants it
  std::optional<PacketQueue> syn_queue;        // nothing: nobody has opened it
  std::vector<std::string> route_differences;  // of what `net up` sets
  std::vector<std::string> refused_settings;   // setsockopt calls that policies ask for in vain
  Daemon daemon;
  SynCounts syns;
  TcpSockets sockets;
  std::optional<Probe> probe;

  // Empty when this kernel or namespace has no such setting.
  std::optional<std::string> sysctl(const std::string& name) const;
  std::optional<std::uint64_t> number(const std::string& name) const;
  std::uint64_t counter(const std::string& name) const;
};

// Reads this host and this network namespace. Changes nothing, throws nothing: what can't be read is in
// `unread`. Runs ip, nft, iptables-save and ethtool where they are installed.
Facts read_host(const Configuration* configuration);
Probe read_probe(const Endpoint& client, const Endpoint& to);

}  // namespace headrace::doctor
