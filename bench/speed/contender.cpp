// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/contender.hpp"

#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "bench/lab/socket.hpp"
#include "bench/speed/usage.hpp"

namespace headrace::lab {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr const char* kNginxStream = "/usr/lib/nginx/modules/ngx_stream_module.so";

std::optional<fs::path> find_in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream places((path == nullptr ? std::string{} : std::string(path)) +
                            ":/usr/local/sbin:/usr/sbin");
  for (std::string place; std::getline(places, place, ':');) {
    const fs::path candidate = fs::path(place) / name;
    if (!place.empty() && fs::exists(candidate)) return candidate;
  }
  return std::nullopt;
}

std::vector<std::string> command_line(const Contender& contender, const SpeedLab& lab,
                                      const fs::path& program) {
  const std::string directory = lab.dir.path().string();
  switch (contender.carrier) {
    case Carrier::haproxy:
      return {program, "-db", "-f", lab.dir.write("haproxy.cfg", haproxy_configuration(contender, lab.spec))};
    case Carrier::nginx:
      return {program,
              "-p",
              directory,
              "-e",
              "stderr",
              "-c",
              lab.dir.write("nginx.conf", nginx_configuration(contender, lab.spec, directory))};
    case Carrier::floor: {
      std::vector<std::string> words{program};
      for (const Service& service : lab.spec.services) words.insert(words.end(), {service.at, service.to});
      return words;
    }
    default:
      lab.dir.write("policies.d/10-bench.toml",
                    contender.policies.empty() ? lab.spec.policies : contender.policies);
      return {program, "run", "-c",
              lab.dir.write("headrace.toml", headrace_configuration(contender, lab.spec, directory))};
  }
}

// A proxy is ready when it accepts and has its workers: nginx's master listens before it has one. Nothing is
// sent, so that the session ends at once.
void wait_until_it_accepts(const SpeedLab& lab, const Process& process, std::size_t processes) {
  const Deadline deadline(10s);
  while (!deadline.passed() && process.running()) {
    if (with_children(process.pid()).size() == processes &&
        Socket::try_connect(lab.net.client, lab.spec.services.front().at).end == End::done)
      return;
    std::this_thread::sleep_for(10ms);
  }
  throw std::runtime_error("the proxy did not get ready:\n" + process.output());
}

}  // namespace

std::vector<Contender> with_a_bare_policy() {
  return {
      {"direct", "routed, no proxy", Carrier::direct},
      {"headrace", "headrace inline, a bare policy", Carrier::headrace_inline},
      {"haproxy", "haproxy", Carrier::haproxy, true},
      {"nginx", "nginx stream", Carrier::nginx, true},
  };
}

std::optional<fs::path> program_of(const Contender& contender, const fs::path& headrace) {
  switch (contender.carrier) {
    case Carrier::direct:
      return fs::path{};
    case Carrier::haproxy:
      return find_in_path("haproxy");
    case Carrier::nginx:
      return fs::exists(kNginxStream) ? find_in_path("nginx") : std::nullopt;
    case Carrier::floor:
      return fs::path{HEADRACE_FLOOR_PROGRAM};
    default:
      return fs::exists(headrace) ? std::optional(headrace) : std::nullopt;
  }
}

Running::Running(const Contender& contender, const SpeedLab& lab, const fs::path& program)
    : contender_(contender), lab_(lab) {
  if (contender.prepare) contender.prepare(lab.net);
  if (contender.carrier == Carrier::direct) return;
  const std::vector<std::string> argv = command_line(contender, lab, program);
  if (contender.carrier == Carrier::headrace_inline)
    lab.net.middle.command({program, "net", "up", "-c", argv.back()});
  process_.emplace(lab.net.middle, argv);
  if (contender.carrier != Carrier::headrace_inline) {
    wait_until_it_accepts(lab, *process_, contender.carrier == Carrier::nginx ? 2 : 1);
  } else if (!process_->wait_for_output("ready", 10s)) {
    throw std::runtime_error("headrace did not get ready:\n" + process_->output());
  }
}

std::string Running::place(const std::string& service) const {
  const bool is_inline =
      contender_.carrier == Carrier::direct || contender_.carrier == Carrier::headrace_inline;
  return is_inline ? lab_.service(service).to : lab_.service(service).at;
}

std::vector<pid_t> Running::pids() const {
  return process_ ? with_children(process_->pid()) : std::vector<pid_t>{};
}

}  // namespace headrace::lab
