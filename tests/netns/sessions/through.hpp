// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "bench/lab/capture.hpp"
#include "bench/lab/socket.hpp"
#include "tests/netns/daemon.hpp"

// What tests of sessions share: a pair of ends with headrace between them, policies by port, and looks at
// one leg from the outside.
namespace headrace {

// A policy for one port; legs as TOML values, "\"lan\"" or "{ profile = \"lan\", mss = 777 }".
std::string policy(int port, const std::string& client_leg, const std::string& server_leg);
DaemonSettings with_policies(const std::string& toml, const std::string& more = "");
// The same for a leg of `plain` with one or more keys changed, "mss = 777".
std::string leg(const std::string& keys, const std::string& profile = "plain");

// A copy of the program where anybody can run it.
std::string program_for_anybody(const lab::TempDir& directory);

struct Ends {
  lab::Socket client;
  lab::Socket server;
};
// A connection through headrace, and the server's end of it. NODELAY at both ends.
Ends connect_ends(const lab::InlineLab& lab, const std::string& place, lab::SocketOptions client = {},
                  const lab::SocketOptions& server = {});

// The client's view of a server that is not there: it may connect, gets nothing, and a reset soon.
bool looks_refused(const lab::InlineLab& lab, const std::string& place, std::chrono::nanoseconds within);

// From now on nothing that comes in is heard there: no reset, no ICMP, no ACK.
void silence(const lab::Namespace& where);

// What ss(8) says in the middle of the leg to one server port, as one line.
std::string client_leg_facts(const lab::InlineLab& lab, int port);
std::string server_leg_facts(const lab::InlineLab& lab, int port);
// The number behind `key` in such a line, "rto:204" -> 204; -1 when there is none.
double fact(const std::string& line, const std::string& key);

std::chrono::nanoseconds since(std::chrono::steady_clock::time_point start);
// Looks until `wanted` holds: for what the kernel tells nobody. False when the time is over.
bool eventually(const std::function<bool()>& wanted,
                std::chrono::nanoseconds timeout = std::chrono::seconds{10});

}  // namespace headrace
