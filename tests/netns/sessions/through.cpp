// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/sessions/through.hpp"

#include <poll.h>

#include <cstdlib>
#include <filesystem>

#include <netinet/in.h>
#include <netinet/tcp.h>

namespace headrace {

std::string policy(int port, const std::string& client_leg, const std::string& server_leg) {
  const std::string number = std::to_string(port);
  return "[[policy]]\nname = \"p" + number + "\"\nto = [\"any\"]\nports = [" + number +
         "]\nclient_leg = " + client_leg + "\nserver_leg = " + server_leg + "\n";
}

DaemonSettings with_policies(const std::string& toml, const std::string& more) {
  DaemonSettings settings;
  settings.policies = toml;
  settings.more = more;
  return settings;
}

std::string leg(const std::string& keys, const std::string& profile) {
  return "{ profile = \"" + profile + "\", " + keys + " }";
}

std::string program_for_anybody(const lab::TempDir& directory) {
  namespace fs = std::filesystem;
  fs::permissions(directory.path(), fs::perms::others_read | fs::perms::others_exec, fs::perm_options::add);
  const std::string copy = directory / "headrace";
  fs::copy_file(HEADRACE_PROGRAM, copy, fs::copy_options::skip_existing);
  return copy;
}

Ends connect_ends(const lab::InlineLab& lab, const std::string& place, lab::SocketOptions client,
                  const lab::SocketOptions& server) {
  const auto listener = lab::Socket::listen(lab.server, place, server);
  client.nodelay = true;
  auto from = lab::Socket::connect(lab.client, place, client);
  auto to = listener.accept();
  to.set_option(IPPROTO_TCP, TCP_NODELAY, 1);
  return {std::move(from), std::move(to)};
}

bool looks_refused(const lab::InlineLab& lab, const std::string& place, std::chrono::nanoseconds within) {
  const auto start = std::chrono::steady_clock::now();
  const auto attempt = lab::Socket::try_connect(lab.client, place);
  // Too soon for connect(2) to have seen it succeed.
  if (attempt.end == lab::End::refused || attempt.end == lab::End::reset) return true;
  if (attempt.end != lab::End::done) return false;
  const auto heard = attempt.socket.receive_to_end(within);
  return heard.bytes.empty() && heard.end == lab::End::reset && since(start) < within;
}

void silence(const lab::Namespace& where) {
  where.command(
      {"nft", "-f", "-"},
      "table inet silent { chain input {\ntype filter hook input priority -400; policy drop;\n}\n}\n");
}

namespace {

std::string facts(const lab::InlineLab& lab, const std::string& filter) {
  return lab.middle.command({"ss", "-tnoimOH", "state", "connected", filter});
}

}  // namespace

std::string client_leg_facts(const lab::InlineLab& lab, int port) {
  return facts(lab, "sport = :" + std::to_string(port));
}

std::string server_leg_facts(const lab::InlineLab& lab, int port) {
  return facts(lab, "dport = :" + std::to_string(port));
}

double fact(const std::string& line, const std::string& key) {
  const auto at = line.find(key);
  return at == std::string::npos ? -1 : std::strtod(line.c_str() + at + key.size(), nullptr);
}

std::chrono::nanoseconds since(std::chrono::steady_clock::time_point start) {
  return std::chrono::steady_clock::now() - start;
}

bool eventually(const std::function<bool()>& wanted, std::chrono::nanoseconds timeout) {
  const lab::Deadline deadline{timeout};
  while (!wanted()) {
    if (deadline.passed()) return false;
    ::poll(nullptr, 0, 20);
  }
  return true;
}

}  // namespace headrace
