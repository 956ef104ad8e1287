// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/databases/postgres.hpp"

#include <csignal>
#include <stdexcept>

#include "bench/lab/spawn.hpp"

namespace headrace {

using namespace std::chrono_literals;

std::string postgres_program(const std::string& name) {
  for (const auto& version : std::filesystem::directory_iterator{"/usr/lib/postgresql"})
    if (const auto program = version.path() / "bin" / name; std::filesystem::exists(program)) return program;
  throw std::runtime_error{name + " is not installed"};
}

Postgres::Postgres(const lab::Namespace& where)
    : where_{where}, place_{directory_for_nobody(directory_, "postgres")} {
  lab::run_command(
      as_nobody({postgres_program("initdb"), "-D", place_ + "/data", "-U", "postgres", "--auth=trust",
                 "--locale=C", "--encoding=UTF8", "--wal-segsize=1", "--no-sync"}));
  make_certificate(directory_, "server");
  directory_.write("access",
                   "local all all trust\nhostssl all guarded all scram-sha-256\nhost all guarded all reject\n"
                   "host all all all trust\n");
  start();
  ask("create role guarded login password 'secret'");
}

Postgres::~Postgres() {
  try {
    end(SIGQUIT);  // without the checkpoint that nobody needs any more
  } catch (const std::exception&) {
    // Its destructor kills it.
  }
}

void Postgres::start() {
  std::vector<std::string> line{postgres_program("postgres"), "-D", place_ + "/data", "-p",
                                std::to_string(kPort)};
  const std::vector<std::string> settings{"listen_addresses=*",
                                          "unix_socket_directories=" + place_,
                                          "fsync=off",
                                          "autovacuum=off",
                                          "shared_buffers=16MB",
                                          "wal_level=minimal",
                                          "max_wal_senders=0",
                                          "hba_file=" + (directory_ / "access").string(),
                                          "ssl=on",
                                          "ssl_cert_file=" + certificate(),
                                          "ssl_key_file=" + (directory_ / "server.key").string()};
  for (const std::string& setting : settings) line.insert(line.end(), {"-c", setting});
  process_.emplace(where_, as_nobody(line));
  if (!process_->wait_for_output("ready to accept connections", 30s))
    throw std::runtime_error{"postgres: " + process_->output()};
}

void Postgres::stop() { end(SIGINT); }

void Postgres::end(int signal) {
  if (!process_) return;
  process_->signal(signal);
  if (!process_->wait(20s)) throw std::runtime_error{"postgres goes on: " + process_->output()};
  process_.reset();
}

std::string Postgres::ask(const std::string& sql) const {
  std::string answer = where_.command(psql(place_, sql));
  if (answer.ends_with('\n')) answer.pop_back();
  return answer;
}

int Postgres::active() const {
  return std::stoi(
      ask("select count(*) from pg_stat_activity where state = 'active' and client_addr is not null"));
}

std::vector<std::string> psql(const std::string& address, const std::string& command,
                              const std::string& more) {
  return {"psql",
          "--no-psqlrc",
          "--quiet",
          "--no-align",
          "--tuples-only",
          "-v",
          "ON_ERROR_STOP=1",
          "--command",
          command,
          "--dbname",
          "host=" + address + " port=" + std::to_string(Postgres::kPort) + " dbname=postgres " + more};
}

}  // namespace headrace
