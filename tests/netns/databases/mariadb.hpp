// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/netns/databases/two_ways.hpp"

namespace headrace {

// Debian's MariaDB with a throw-away data directory in the server's namespace, run by nobody. The user
// "client" may do everything, "guarded" the same with SSL only. Goes with the object, files and all.
class MariaDb {
 public:
  static constexpr int kPort = 3306;
  static constexpr std::size_t kMaxAllowedPacket = 18 << 20;  // the protocol splits at 16 MiB

  explicit MariaDb(const lab::Namespace& where);

  // Without any network: by the socket in its directory.
  std::string ask(const std::string& sql) const;
  // The connection of the one client that sleeps in a statement now; nothing when there is none.
  std::optional<std::string> sleeper() const;
  std::string certificate() const { return directory_ / "server.crt"; }
  const lab::TempDir& files() const { return directory_; }

 private:
  const lab::Namespace& where_;
  lab::TempDir directory_;
  std::string place_;  // data and socket
  std::optional<lab::Process> process_;
};

// The command line of MariaDB's client over the network, rows as bare bytes: `more`, then what stdin says.
std::vector<std::string> mariadb(const std::string& address, const std::vector<std::string>& more = {},
                                 const std::string& user = "client");

}  // namespace headrace
