// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/netns/databases/two_ways.hpp"

namespace headrace {

// Debian's PostgreSQL with a throw-away cluster in the server's namespace, run by nobody: everybody is
// trusted, but "guarded" has a password (SCRAM) and needs SSL. Goes with the object, files and all.
class Postgres {
 public:
  static constexpr int kPort = 5432;

  explicit Postgres(const lab::Namespace& where);
  ~Postgres();
  Postgres(const Postgres&) = delete;
  Postgres& operator=(const Postgres&) = delete;

  void start();
  void stop();  // the "fast" way: sessions are told and ended

  // Without any network: by the socket in the cluster's directory.
  std::string ask(const std::string& sql) const;
  // Statements that clients run now.
  int active() const;
  const std::string& directory() const { return place_; }
  std::string certificate() const { return directory_ / "server.crt"; }
  const lab::TempDir& files() const { return directory_; }

 private:
  void end(int signal);

  const lab::Namespace& where_;
  lab::TempDir directory_;
  std::string place_;  // the cluster and its socket
  std::optional<lab::Process> process_;
};

// A program of PostgreSQL's, with its path: Debian keeps them by version, out of PATH.
std::string postgres_program(const std::string& name);

// psql's command line for one command, rows as bare lines; `more` goes into the connection string.
std::vector<std::string> psql(const std::string& address, const std::string& command,
                              const std::string& more = "user=postgres");

}  // namespace headrace
