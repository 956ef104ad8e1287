// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/demo/kept_lab.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <vector>

#include "bench/lab/spawn.hpp"

namespace headrace::lab {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> names() {
  const std::string lab = kKeptLab;
  return {lab + "-client", lab + "-middle", lab + "-server"};
}

bool exists(const std::string& name) { return std::filesystem::exists("/run/netns/" + name); }

void end_program(pid_t pid) {
  const Handle ended(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!ended) return;
  kill(pid, SIGTERM);
  if (!wait_for(ended.get(), POLLIN, Deadline(2s))) kill(pid, SIGKILL);
}

void end_programs_in(const std::string& name) {
  std::istringstream pids(run_command({"ip", "netns", "pids", name}));
  for (pid_t pid = 0; pids >> pid;) {
    if (pid != getpid()) end_program(pid);
  }
}

}  // namespace

bool kept_lab_exists() {
  for (const std::string& name : names()) {
    if (exists(name)) return true;
  }
  return false;
}

void note_kept_lab(const DemoLab& demo) {
  std::error_code none;
  std::filesystem::remove(kKeptLink, none);
  std::filesystem::create_symlink(demo.dir.path(), kKeptLink);
}

std::string how_to_use_kept_lab(const DemoLab& demo, const Programs& programs,
                                const std::string& remove_command) {
  const std::string headrace = programs.headrace.string();
  std::string text = "\nThe lab is still up, headrace in its middle. To look around:\n";
  for (const std::string& name : names()) text += "  ip netns exec " + name + " bash\n";
  text += "  ip netns exec headrace-demo-client curl -o /dev/null ftp://" + std::string(kServer4) +
          "/download/file\n  ip netns exec headrace-demo-middle " + headrace + " net status -c " +
          (demo.dir / "headrace.toml").string() +
          "\nIts configuration and logs: " + demo.dir.path().string() +
          "\nTo remove all of it: " + remove_command + "\n";
  return text;
}

bool remove_kept_lab() {
  bool found = false;
  for (const std::string& name : names()) {
    if (!exists(name)) continue;
    end_programs_in(name);
    found |= remove_namespace(name);
  }
  std::error_code none;
  const std::filesystem::path dir = std::filesystem::read_symlink(kKeptLink, none);
  if (dir.filename().string().starts_with("headrace-")) {
    std::filesystem::remove_all(dir, none);
    found = true;
  }
  std::filesystem::remove(kKeptLink, none);
  return found;
}

}  // namespace headrace::lab
