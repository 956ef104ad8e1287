// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/scale_daemon.hpp"

#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "bench/lab/spawn.hpp"

namespace headrace::lab {
namespace {

using namespace std::chrono_literals;

// nft takes its time where policies are many.
constexpr auto kPatience = 300s;

// `nft -f -` alone has rules for input; the other calls only look.
std::string nft_with_notes(const std::string& directory) {
  return "#!/bin/sh\nPATH=${PATH#*:}\n[ \"$1\" = -f ] || exec nft \"$@\"\n"
         "rules=$(mktemp -p '" +
         directory +
         "') && cat >\"$rules\"\n"
         "start=$(date +%s%N)\nnft -f \"$rules\"\nstatus=$?\n"
         "echo \"$(($(date +%s%N) - start)) $(stat -c %s \"$rules\")\" >>'" +
         directory +
         "/nft.notes'\n"
         "rm -f \"$rules\"\nexit $status\n";
}

std::string settings(const std::string& directory) {
  return "policy_files = \"policies.d/*.toml\"\nworkers = 1\n[intercept]\ninterfaces = "
         "[\"wan0\"]\nstate_file = \"" +
         directory + "/net.json\"\n[limits]\nsessions_per_client = \"100%\"\n[log]\nsessions = false\n" +
         "[admin]\nmetrics = \"off\"\nsocket = \"" + directory + "/admin.sock\"\nstate_directory = \"" +
         directory + "\"\n";
}

}  // namespace

std::string policy_for_the_lab() {
  return "[[policy]]\nname = \"lab\"\nto = [\"198.18.2.0/24\"]\nclient_leg = \"lan\"\nserver_leg = \"lan\"\n";
}

ScaleDaemon::ScaleDaemon(const InlineLab& lab, const std::filesystem::path& headrace,
                         const std::string& policies)
    : lab_(lab), headrace_(headrace), file_(dir_.write("headrace.toml", settings(dir_.path()))) {
  write_policies(policies);
  std::filesystem::permissions(dir_.write("bin/nft", nft_with_notes(dir_.path())),
                               std::filesystem::perms{0755});
  lab_.middle.command({headrace_, "net", "up", "-c", file_});
  const char* path = std::getenv("PATH");
  ProcessOptions options;
  options.environment = {"PATH=" + (dir_ / "bin").string() + ":" +
                         (path == nullptr ? "/usr/sbin:/usr/bin:/sbin:/bin" : path)};
  process_.emplace(lab_.middle, std::vector<std::string>{headrace_, "run", "-c", file_}, options);
  if (!process_->wait_for_output("ready workers=", kPatience))
    throw std::runtime_error("headrace did not get ready:\n" + process_->output());
}

void ScaleDaemon::write_policies(const std::string& policies) const {
  dir_.write("policies.d/10.toml", policies);
}

void ScaleDaemon::reload() const { lab_.middle.command({headrace_, "reload", "-c", file_}); }

ScaleDaemon::Nft ScaleDaemon::nft_so_far() const {
  Nft sum;
  if (!std::filesystem::exists(dir_ / "nft.notes")) return sum;
  std::istringstream notes(read_file(dir_ / "nft.notes"));
  for (double nanoseconds = 0, bytes = 0; notes >> nanoseconds >> bytes;) {
    sum.seconds += nanoseconds / 1e9;
    sum.bytes += bytes;
  }
  return sum;
}

}  // namespace headrace::lab
