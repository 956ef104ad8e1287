// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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
};

struct MarkAndMask {
  std::uint32_t mark = 0x00480000;
  std::uint32_t mask = 0x00ff0000;
  // Every server leg carries the next value under the same mask.
  std::uint32_t server_mark() const { return mark + (mask & (~mask + 1)); }
};

struct InterceptSettings {
  InterceptMode mode = InterceptMode::tproxy;
  Firewall firewall = Firewall::nft;
  std::vector<std::string> interfaces;  // names, a trailing * allowed; empty: intercept nothing
  std::vector<Exemption> never;         // port 179 is exempt besides (TCP-MD5/AO cannot pass)
  PortRange listener_ports{18500, 18627};
  MarkAndMask mark;
  std::uint32_t table = 18514;
};

struct ForwardSettings {
  Endpoint listen;
  Endpoint to;
  SharedTreatment client_leg;
  SharedTreatment server_leg;
  SourceLocation where;
};

struct LimitSettings {
  std::optional<std::size_t> sessions;  // "auto": from the descriptor limit
  struct PerClient {
    bool is_share = true;
    double share = 0.10;       // of `sessions`
    std::size_t count = 0;
  } sessions_per_client;
  Overload overload = Overload::bypass;
  std::optional<Bytes> memory;  // "auto": an eighth of the machine's memory
};

struct TimeoutSettings {
  std::optional<Duration> connect;      // "auto": as long as the kernel tries
  std::optional<Duration> idle;         // "off"
  std::optional<Duration> half_closed;  // "off"
  std::optional<Duration> drain;        // "off"
};

struct AdminSettings {
  std::string socket = "/run/headrace/admin.sock";
  std::optional<Endpoint> metrics;  // default 127.0.0.1:9640; empty: "off"
};

struct LogSettings {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;
  bool sessions = true;
};

// Namespace-wide sysctls that `net up` sets and `net down` restores. In the file they are written without
// net.ipv4.tcp_ (kernel.slow_start_after_idle).
using KernelSettings = std::map<std::string, std::string>;  // full sysctl name -> value

struct Settings {
  std::optional<unsigned> workers;   // "auto": one per CPU
  std::optional<Duration> busy_poll; // "off"
  InterceptSettings intercept;
  std::vector<ForwardSettings> forwards;
  LimitSettings limits;
  TimeoutSettings timeouts;
  AdminSettings admin;
  LogSettings log;
  KernelSettings kernel;
};

}  // namespace headrace
