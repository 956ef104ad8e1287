// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/databases/two_ways.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "bench/lab/spawn.hpp"

namespace headrace {
namespace {

using namespace std::chrono_literals;

constexpr uid_t kNobody = 65534;

DaemonSettings policy_for(const std::string& ports, const std::string& keys) {
  DaemonSettings settings;
  settings.policies = "[[policy]]\nname = \"database\"\nto = [\"" + std::string{lab::kServer4} + "\", \"" +
                      lab::kServer6 + "\"]\nports = [" + ports + "]\n" + keys;
  return settings;
}

const lab::InlineLab& with_direct_addresses(const lab::InlineLab& lab) {
  lab.add_server_address(TwoWays::kDirect4);
  lab.add_server_address(TwoWays::kDirect6);
  return lab;
}

void give_to_nobody(const std::filesystem::path& path, mode_t mode) {
  lab::checked(::chown(path.c_str(), kNobody, kNobody), "chown");
  lab::checked(::chmod(path.c_str(), mode), "chmod");
}

}  // namespace

TwoWays::TwoWays(const std::string& ports, const std::string& keys, lab::InlineLabSettings settings)
    : lab_{std::move(settings)}, daemon_{with_direct_addresses(lab_), policy_for(ports, keys)} {}

std::vector<std::pair<std::string, std::string>> TwoWays::pairs() {
  return {{lab::kServer4, kDirect4}, {lab::kServer6, kDirect6}};
}

int TwoWays::accepted() const { return daemon_.status()["counters"]["accepted"]; }

Said run_to_end(lab::Process& program) {
  const auto status = program.wait(30s);
  return {status ? status->code : -1, program.output()};
}

std::vector<std::string> as_nobody(std::vector<std::string> line) {
  const std::string id = std::to_string(kNobody);
  // A change of user takes the death signal away: it is asked for again.
  const std::vector<std::string> front{"setpriv",        "--reuid=" + id,  "--regid=" + id,
                                       "--clear-groups", "--no-new-privs", "--pdeathsig=KILL"};
  line.insert(line.begin(), front.begin(), front.end());
  return line;
}

std::string directory_for_nobody(const lab::TempDir& directory, const std::string& name) {
  const std::filesystem::path path = directory / name;
  std::filesystem::create_directories(path);
  give_to_nobody(path, 0755);
  return path;
}

void make_certificate(const lab::TempDir& directory, const std::string& name) {
  std::string names = "subjectAltName=";
  for (const auto& [through, direct] : TwoWays::pairs()) names += "IP:" + through + ",IP:" + direct + ",";
  names.pop_back();
  const std::filesystem::path key = directory / (name + ".key");
  lab::run_command({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                    "-nodes", "-days", "2", "-subj", "/CN=database", "-addext", names, "-keyout", key, "-out",
                    directory / (name + ".crt")});
  give_to_nobody(key, 0600);
}

}  // namespace headrace
