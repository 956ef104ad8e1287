// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "bench/lab/capture.hpp"
#include "tests/netns/sessions/through.hpp"

// Policies with accept = "verified", and what a client sees of a server.
namespace headrace {

// One such policy for everything; `intercept` in place of nft on wan0.
DaemonSettings verified(const std::string& more = "",
                        const std::string& intercept = "interfaces = [\"wan0\"]\n");
inline const std::string kByIptables = "interfaces = [\"wan0\"]\nfirewall = \"iptables\"\n";

// What the server does with SYNs to a port: "drop", "reject with icmpx type admin-prohibited" ...
void treat(const lab::Namespace& server, int port, const std::string& verdict);

// What a client is told: how connect(2) ended, and its errno.
struct Told {
  lab::End end = lab::End::other;
  int error = 0;
  bool operator==(const Told&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Told& told);
// What connect(2) says. A client that hears nothing gives up after `patience`.
Told told(const lab::InlineLab& lab, const std::string& place,
          std::chrono::nanoseconds patience = std::chrono::milliseconds{1500});

// Of SYNs with this outcome, by the daemon's status.
int syns(const Daemon& daemon, const std::string& outcome);

bool is_syn(const lab::Packet& packet);
bool is_syn_ack(const lab::Packet& packet);

}  // namespace headrace
