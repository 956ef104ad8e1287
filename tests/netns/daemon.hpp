// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/lab/inline_lab.hpp"
#include "bench/lab/process.hpp"
#include "bench/lab/temp_dir.hpp"

namespace headrace {

// What a test wants to be different. TOML text is added to the files as it stands.
struct DaemonSettings {
  std::string main = "workers = 2\n";                   // top of headrace.toml, before [intercept]
  std::string intercept = "interfaces = [\"wan0\"]\n";  // the whole of [intercept] but the state file
  std::string more;  // further sections: "[timeouts]\nidle = \"1s\"\n", [[forward]] ...
  std::string policies =
      "[[policy]]\nname = \"all\"\nto = [\"any\"]\nclient_leg = \"lan\"\nserver_leg = \"lan\"\n";
  bool net_up = true;
  bool start = true;
};

// The real program in the middle of an InlineLab, from real files: `net up`, `run`, ready; taken down again
// (SIGINT, `net down`) by the destructor. Borrows the lab, which must outlive it.
class Daemon {
 public:
  explicit Daemon(const lab::InlineLab& lab, const DaemonSettings& settings = {});
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  void start();  // waits until it is ready; throws with its log when it does not get there
  void signal(int number) const { process_->signal(number); }
  void kill() { process_->kill(); }  // kill -9
  std::optional<lab::ExitStatus> wait(std::chrono::nanoseconds timeout = std::chrono::seconds{10}) {
    return process_->wait(timeout);
  }
  bool running() const { return process_ && process_->running(); }
  pid_t pid() const { return process_->pid(); }

  std::string log() const { return process_->output(); }
  // Blocks until the log holds `text` so many times.
  bool logged(std::string_view text, int times = 1) const {
    return process_->wait_for_output(text, std::chrono::seconds{10}, times);
  }

  void write_policies(const std::string& toml) const;
  // `headrace VERB ... -c FILE` in the middle; its output. Throws when the exit status isn't 0.
  std::string command(std::vector<std::string> words) const;
  // The same for what may be refused, `run` included: its exit status, and stdout and stderr together.
  struct Outcome {
    int status = -1;  // still -1 when it had to be stopped after 10 s
    std::string output;
  };
  Outcome try_command(std::vector<std::string> words) const;
  nlohmann::json status() const;  // the control socket's answer
  std::string file() const { return directory_ / "headrace.toml"; }
  const lab::TempDir& directory() const { return directory_; }

 private:
  std::vector<std::string> line(std::vector<std::string> words) const;

  const lab::InlineLab& lab_;
  lab::TempDir directory_;
  bool net_up_;
  std::optional<lab::Process> process_;
};

}  // namespace headrace
