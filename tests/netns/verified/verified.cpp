// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/verified/verified.hpp"

#include <ostream>

namespace headrace {

DaemonSettings verified(const std::string& more, const std::string& intercept) {
  DaemonSettings settings;
  settings.policies =
      "[[policy]]\nname = \"all\"\nto = [\"any\"]\nclient_leg = \"lan\"\nserver_leg = \"lan\"\n"
      "accept = \"verified\"\n";
  settings.more = more;
  settings.intercept = intercept;
  return settings;
}

void treat(const lab::Namespace& server, int port, const std::string& verdict) {
  const std::string name = "port" + std::to_string(port);
  server.command({"nft", "-f", "-"}, "table inet " + name +
                                         " { chain input {\ntype filter hook input priority -10;\n" +
                                         "tcp dport " + std::to_string(port) + " " + verdict + "\n}\n}\n");
}

std::ostream& operator<<(std::ostream& out, const Told& told) {
  return out << lab::to_text(told.end) << " (errno " << told.error << ")";
}

Told told(const lab::InlineLab& lab, const std::string& place, std::chrono::nanoseconds patience) {
  lab::SocketOptions options;
  options.timeout = patience;
  const auto attempt = lab::Socket::try_connect(lab.client, place, options);
  return {attempt.end, attempt.error};
}

int syns(const Daemon& daemon, const std::string& outcome) {
  return daemon.status()["syns"][outcome].get<int>();
}

bool is_syn(const lab::Packet& packet) { return packet.syn && !packet.ack; }
bool is_syn_ack(const lab::Packet& packet) { return packet.syn && packet.ack; }

}  // namespace headrace
