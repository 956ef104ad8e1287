// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/databases/mariadb.hpp"

#include <stdexcept>

#include "bench/lab/spawn.hpp"

namespace headrace {
namespace {

using namespace std::chrono_literals;

const std::string kPacket = "--max-allowed-packet=" + std::to_string(MariaDb::kMaxAllowedPacket);

}  // namespace

MariaDb::MariaDb(const lab::Namespace& where)
    : where_{where}, place_{directory_for_nobody(directory_, "mariadb")} {
  // A thousand times to the disk for a database that goes in seconds would be most of a test's time.
  const std::vector<std::string> common{"--no-defaults", "--datadir=" + place_ + "/data", "--debug-no-sync",
                                        "--innodb-flush-method=nosync", "--skip-name-resolve"};
  const auto nobody_runs = [&](std::vector<std::string> line, const std::vector<std::string>& more) {
    line.insert(line.end(), common.begin(), common.end());
    line.insert(line.end(), more.begin(), more.end());
    return as_nobody(line);
  };
  lab::run_command(
      nobody_runs({"mariadb-install-db"}, {"--auth-root-authentication-method=normal", "--skip-test-db"}));
  make_certificate(directory_, "server");
  process_.emplace(
      where_,
      nobody_runs({"mariadbd"}, {"--socket=" + place_ + "/socket", "--pid-file=" + place_ + "/pid",
                                 "--port=" + std::to_string(kPort), "--skip-log-bin",
                                 "--innodb-buffer-pool-size=64M", kPacket, "--ssl-cert=" + certificate(),
                                 "--ssl-key=" + (directory_ / "server.key").string()}));
  if (!process_->wait_for_output("ready for connections", 30s))
    throw std::runtime_error{"mariadbd: " + process_->output()};
  ask("create user client; grant all on *.* to client;"
      "create user guarded identified by 'secret' require ssl; grant all on *.* to guarded;"
      "create database lab");
}

std::string MariaDb::ask(const std::string& sql) const {
  std::string answer = where_.command({"mariadb", "--no-defaults", "--socket=" + place_ + "/socket",
                                       "--user=root", "--batch", "--skip-column-names", "--execute", sql});
  if (answer.ends_with('\n')) answer.pop_back();
  return answer;
}

std::optional<std::string> MariaDb::sleeper() const {
  const std::string id = ask("select id from information_schema.processlist where state = 'User sleep'");
  return id.empty() ? std::nullopt : std::optional{id};
}

std::vector<std::string> mariadb(const std::string& address, const std::vector<std::string>& more,
                                 const std::string& user) {
  std::vector<std::string> line{"mariadb",
                                "--no-defaults",
                                "--host=" + address,
                                "--user=" + user,
                                "--port=" + std::to_string(MariaDb::kPort),
                                "--batch",
                                "--raw",
                                "--skip-column-names",
                                kPacket,
                                "--local-infile=1",
                                "--database=lab"};
  line.insert(line.end(), more.begin(), more.end());
  return line;
}

}  // namespace headrace
