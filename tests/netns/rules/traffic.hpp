// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "bench/lab/inline_lab.hpp"
#include "bench/lab/socket.hpp"

// What every test of the rule set asks: does a connection work, and did it go through headrace or past it?
namespace headrace {

inline constexpr std::array kServers{lab::kServer4, lab::kServer6};

struct Conversation {
  lab::Socket client;
  lab::Socket server;
  std::chrono::nanoseconds connected_in{0};  // what the client waited
};

// A listener of the lab's server, in each family.
std::vector<lab::Socket> listen_in_both(const lab::InlineLab& lab, int port = 5000);

// From the lab's client to `listener`, which must be its server's.
Conversation converse(const lab::InlineLab& lab, const lab::Socket& listener,
                      const lab::SocketOptions& options = {});

// A question arrives and so does its answer.
bool speaks(const Conversation& conversation);

// All of `count` bytes arrive, unchanged.
bool carries(const lab::Socket& from, const lab::Socket& to, std::size_t count);

// By the middle's kernel, not by what headrace says: it has a socket for this client, or it forwards.
bool is_through(const lab::InlineLab& lab, const Conversation& conversation);

// Shorter than the second after which a SYN that was lost is sent again.
inline constexpr std::chrono::milliseconds kAtOnce{900};

// A new connection in each family. "through", "direct", or what went wrong.
std::string way_of_new_flows(const lab::InlineLab& lab, const std::vector<lab::Socket>& listeners);

// For what no event tells: asks `holds` (a command, so it takes its time) until it does; false after 10 s.
template <typename Condition>
bool eventually(Condition holds) {
  const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (!holds()) {
    if (std::chrono::steady_clock::now() > latest) return false;
  }
  return true;
}

}  // namespace headrace
