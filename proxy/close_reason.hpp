// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// Why a session ended, and who caused it. One list: the log, the counters and the reference read it.
namespace headrace {

enum class CloseReason : std::uint8_t {
  client_fin,
  server_fin,
  client_reset,
  server_reset,
  client_gone,
  client_timed_out,
  server_timed_out,
  server_refused,
  server_unreachable,
  connect_timeout,
  connect_failed,
  idle_timeout,
  half_closed_timeout,
  drain_timeout,
  stopped,
  no_resources,
};

struct CloseReasonInfo {
  CloseReason reason;
  std::string_view name;  // as in the log line and the counters
  std::string_view says;  // one sentence for people
};

inline constexpr std::array kCloseReasons = std::to_array<CloseReasonInfo>({
    {CloseReason::client_fin, "client_fin", "Both ends finished in order; the client first."},
    {CloseReason::server_fin, "server_fin", "Both ends finished in order; the server first."},
    {CloseReason::client_reset, "client_reset", "The client reset its connection; the server saw a reset."},
    {CloseReason::server_reset, "server_reset", "The server reset its connection; the client saw a reset."},
    {CloseReason::client_gone, "client_gone", "The client went away before the server had answered."},
    {CloseReason::client_timed_out, "client_timed_out",
     "The client stopped answering (keepalive, user timeout)."},
    {CloseReason::server_timed_out, "server_timed_out",
     "The server stopped answering (keepalive, user timeout)."},
    {CloseReason::server_refused, "server_refused",
     "The server refused the connection; the client saw a reset."},
    {CloseReason::server_unreachable, "server_unreachable",
     "The network said that the server can't be reached."},
    {CloseReason::connect_timeout, "connect_timeout", "The server did not answer in time."},
    {CloseReason::connect_failed, "connect_failed",
     "The server leg could not be opened for a reason of this host."},
    {CloseReason::idle_timeout, "idle_timeout", "Nothing moved for timeouts.idle."},
    {CloseReason::half_closed_timeout, "half_closed_timeout",
     "One end had finished and nothing moved for timeouts.half_closed."},
    {CloseReason::drain_timeout, "drain_timeout", "headrace was stopping and timeouts.drain had passed."},
    {CloseReason::stopped, "stopped", "headrace was told to stop at once."},
    {CloseReason::no_resources, "no_resources", "headrace had no memory or descriptor for it."},
});
static_assert(kCloseReasons.size() == static_cast<std::size_t>(CloseReason::no_resources) + 1);

// The server leg never stood, for a reason that a connection made directly would meet as well.
constexpr bool is_failed_connect(CloseReason reason) {
  return reason == CloseReason::server_refused || reason == CloseReason::server_unreachable ||
         reason == CloseReason::connect_timeout;
}

constexpr const CloseReasonInfo& info(CloseReason reason) {
  return kCloseReasons[static_cast<std::size_t>(reason)];
}

}  // namespace headrace
