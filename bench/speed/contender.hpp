// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/lab/process.hpp"
#include "bench/speed/speed_lab.hpp"

namespace headrace::lab {

// Who carries the traffic from the clients to the servers.
enum class Carrier { direct, headrace_inline, headrace_forward, haproxy, nginx, floor };

struct Contender {
  std::string id;  // in reports
  std::string title;
  Carrier carrier = Carrier::direct;
  bool is_peer = false;  // of the proxies that headrace is measured against
  // headrace: keys of headrace.toml; haproxy: options, one a line, or behind "global " a line of its global
  // section; nginx: proxy_buffer_size. Empty: the defaults.
  std::string setting = {};
  std::string policies = {};                           // headrace's policy file; empty: the lab's
  std::function<void(const InlineLab&)> prepare = {};  // what is different in its labs; before it starts
};

// Nobody, headrace inline with the lab's policy, which is a bare one, and both peers as they come.
std::vector<Contender> with_a_bare_policy();

// Where headrace's program is, or nothing when the contender cannot be had on this machine (the peers are
// looked for in PATH and where Debian installs daemons).
std::optional<std::filesystem::path> program_of(const Contender& contender,
                                                const std::filesystem::path& headrace);

// A contender at work in the middle of a lab: one worker, ready, idle. Its destructor stops it; what it
// changed in the middle goes with the lab. Borrows the lab.
class Running {
 public:
  // Throws std::runtime_error with what the program said when it doesn't get ready.
  Running(const Contender& contender, const SpeedLab& lab, const std::filesystem::path& program);

  // Where a client connects to reach the lab's service of that name.
  std::string place(const std::string& service) const;
  std::vector<pid_t> pids() const;  // of all its processes; none when direct
  const std::string& id() const { return contender_.id; }

 private:
  const Contender& contender_;
  const SpeedLab& lab_;
  std::optional<Process> process_;
};

// The files of each proxy as text. Pure.
std::string haproxy_configuration(const Contender& contender, const LabSpec& lab);
std::string nginx_configuration(const Contender& contender, const LabSpec& lab, const std::string& directory);
std::string headrace_configuration(const Contender& contender, const LabSpec& lab,
                                   const std::string& directory);

}  // namespace headrace::lab
