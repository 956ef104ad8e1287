// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/address.hpp"
#include "policy/policy_table.hpp"
#include "policy/units.hpp"

// The daemon's settings, one plain struct per consumer, with the product's defaults in the declarations.
// An empty optional is the file's word "auto" or "off", as the comment says.
namespace headrace {

enum class InterceptMode : std::uint8_t { tproxy, redirect, off };
enum class Firewall : std::uint8_t { nft, iptables };
enum class Overload : std::uint8_t { bypass, refuse };
enum class LogLevel : std::uint8_t { trace, debug, info, warning, error, off };
enum class LogFormat : std::uint8_t { text, json };

// Where something is never intercepted: an address or prefix with a port, or either alone.
struct Exemption {
  std::optional<Prefix> to;        // empty: any
  std::optional<PortRange> ports;  // empty: any
  bool operator==(const Exemption&) const = default;
};

struct MarkAndMask {
  std::uint32_t mark = 0x00480000;
  std::uint32_t mask = 0x00ff0000;
  // Server legs carry one of the next four values under the mask: as they are, or with options that the
  // packet filter takes out of their SYN.
  std::uint32_t step() const { return mask & (~mask + 1); }
  std::uint32_t server_mark(const Profile& leg = {}) const {
    const bool timestamps = leg.timestamps.value_or(true);
    const bool sack = leg.sack.value_or(true);
    return mark + step() * (1U + (timestamps ? 0U : 1U) + (sack ? 0U : 2U));
  }
  std::uint32_t last_server_mark() const { return mark + step() * 4; }
  // SYNs that wait for their server's answer (accept = "verified") carry one of the three values after
  // those: to be asked about, to be taken, to go to the server itself.
  std::uint32_t asked_mark() const { return mark + step() * 5; }
  std::uint32_t taken_mark() const { return mark + step() * 6; }
  std::uint32_t direct_mark() const { return mark + step() * 7; }
  bool has_room_for(std::uint32_t value) const { return (value & mask) == value && value > mark; }
  bool operator==(const MarkAndMask&) const = default;
};

struct InterceptSettings {
  InterceptMode mode = InterceptMode::tproxy;
  Firewall firewall = Firewall::nft;
  std::vector<std::string> interfaces;  // names, a trailing * allowed; empty: intercept nothing
  std::vector<Exemption> never;         // port 179 is exempt besides (TCP-MD5/AO cannot pass)
  PortRange listener_ports{18500, 18627};
  MarkAndMask mark;
  std::uint32_t table = 18514;
  std::uint16_t queue = 18514;  // of the kernel's packet queues, where SYNs of accept = "verified" wait
  // Where `net up` notes what it changed (key intercept.state_file): root's own, gone at a reboot as the
  // changes are.
  std::string state_file = "/run/headrace-net/state.json";
  bool operator==(const InterceptSettings&) const = default;
};

struct ForwardSettings {
  Endpoint listen;
  Endpoint to;
  SharedTreatment client_leg;
  SharedTreatment server_leg;
  std::shared_ptr<const DataDecisions> data;  // app = "ftp"
  SourceLocation where;
  bool operator==(const ForwardSettings&) const = default;
};

// What its sessions get; both legs are set.
Decision decision_of(const ForwardSettings& forward);

struct LimitSettings {
  std::optional<std::size_t> sessions;  // "auto": from the descriptor limit
  struct PerClient {
    bool is_share = true;
    double share = 0.10;  // of `sessions`
    std::size_t count = 0;
    bool operator==(const PerClient&) const = default;
  } sessions_per_client;
  Overload overload = Overload::bypass;
  std::size_t held_syns = 1000;  // SYNs of accept = "verified" whose client has not been heard again
  std::size_t held_syns_per_client = 250;
  std::optional<Bytes> memory;  // "auto": an eighth of the machine's memory
  bool operator==(const LimitSettings&) const = default;
};

struct TimeoutSettings {
  std::optional<Duration> connect;      // "auto": as long as the kernel tries
  std::optional<Duration> idle;         // "off"
  std::optional<Duration> half_closed;  // "off"
  std::optional<Duration> drain;        // "off"
  // How long a client's further connections to a server that it did not reach are left to the kernel. Needs
  // sets in the packet filter that processes can write: iptables has none.
  std::optional<Duration> failed_server = std::chrono::seconds{10};
  bool operator==(const TimeoutSettings&) const = default;
};

struct AdminSettings {
  std::string socket = "/run/headrace/admin.sock";
  std::string state_directory =
      "/var/lib/headrace";  // key admin.state_directory: what survives a restart (bypass)
  bool operator==(const AdminSettings&) const = default;
};

struct LogSettings {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;
  bool sessions = true;
  bool operator==(const LogSettings&) const = default;
};

// Namespace-wide sysctls that `net up` sets and `net down` restores. In the file they are written without
// net.ipv4.tcp_ (kernel.slow_start_after_idle).
using KernelSettings = std::map<std::string, std::string>;  // full sysctl name -> value

struct Settings {
  std::optional<unsigned> workers;    // "auto": one per CPU
  std::optional<Duration> busy_poll;  // "off"
  InterceptSettings intercept;
  std::vector<ForwardSettings> forwards;
  LimitSettings limits;
  TimeoutSettings timeouts;
  AdminSettings admin;
  LogSettings log;
  // Queued connections of a listener that closes move to another one instead of being reset (measured: 0 of
  // 10 reset with it, 10 of 10 without). Everything else is left as the host has it.
  KernelSettings kernel = {{"net.ipv4.tcp_migrate_req", "1"}};
  bool operator==(const Settings&) const = default;
};

inline bool intercepts(const Settings& settings) {
  return settings.intercept.mode != InterceptMode::off && !settings.intercept.interfaces.empty();
}

}  // namespace headrace
