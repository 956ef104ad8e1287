// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "policy/flow.hpp"
#include "proxy/close_reason.hpp"
#include "proxy/relay.hpp"
#include "proxy/tcp_info.hpp"

namespace headrace {

// What is left of a session when it has ended: a value, made once, for the log line and the counters.
struct SessionSummary {
  std::uint64_t id = 0;
  Flow flow;
  std::string policy;
  std::string client_profile;
  std::string server_profile;
  Traffic traffic;
  std::chrono::nanoseconds duration{0};
  TcpInfo client;
  TcpInfo server;
  bool other_port = false;  // the server saw another port than the client's: the tuple clashed
  CloseReason reason = CloseReason::stopped;
};

// Round trips to the client per exchange, over those that were timed; empty when none was, or when the round
// trip is too short (under 1 ms) for the answer to mean anything.
std::optional<double> rounds_per_exchange(const SessionSummary& summary);

std::string print_text(const SessionSummary& summary);
std::string print_json(const SessionSummary& summary);  // one object on one line; docs/logging.md

}  // namespace headrace
