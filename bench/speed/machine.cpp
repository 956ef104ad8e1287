// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/machine.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <exception>
#include <fstream>

#include "bench/lab/spawn.hpp"

namespace headrace::lab {
namespace {

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &utc);
  return text;
}

std::string kernel() {
  utsname name{};
  uname(&name);
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

std::string processors() {
  std::ifstream info("/proc/cpuinfo");
  std::string model;
  for (std::string line; model.empty() && std::getline(info, line);) {
    if (line.starts_with("model name")) model = line.substr(line.find(':') + 1);
  }
  return std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " x" + (model.empty() ? " unknown" : model);
}

std::string output_of(const std::vector<std::string>& argv) {
  try {
    std::string text = run_command(argv);
    return text.substr(0, text.find('\n'));
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace

Machine this_machine(const std::filesystem::path& headrace) {
  Machine machine{date_now(), kernel(), processors(), {}};
  const auto note = [&](const char* name, std::string version) {
    if (!version.empty()) machine.versions.emplace_back(name, std::move(version));
  };
  note("headrace", output_of({headrace, "version"}));
  // Debian knows more exactly than the programs say themselves, some of which say it nowhere (vsftpd).
  for (const char* package : {"haproxy", "nginx", "vsftpd", "curl", "strace", "nftables", "gnuplot-nox"})
    note(package, output_of({"dpkg-query", "-W", "-f=${Version}", package}));
  return machine;
}

}  // namespace headrace::lab
