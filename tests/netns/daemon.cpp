// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/daemon.hpp"

#include <csignal>
#include <stdexcept>

namespace headrace {

using namespace std::chrono_literals;

Daemon::Daemon(const lab::InlineLab& lab, const DaemonSettings& settings)
    : lab_{lab}, net_up_{settings.net_up} {
  const std::string here = directory_.path().string();
  directory_.write("headrace.toml", "policy_files = \"policies.d/*.toml\"\n" + settings.main +
                                        "[intercept]\nstate_file = \"" + here + "/net.json\"\n" +
                                        settings.intercept + "[admin]\nsocket = \"" + here +
                                        "/admin.sock\"\nstate_directory = \"" + here +
                                        "/state\"\nmetrics = \"off\"\n" + settings.more);
  write_policies(settings.policies);
  if (net_up_) command({"net", "up"});
  if (settings.start) start();
}

Daemon::~Daemon() {
  try {
    if (running()) {
      process_->signal(SIGINT);
      process_->wait(5s);
    }
    process_.reset();
    if (net_up_) command({"net", "down"});
  } catch (const std::exception&) {
    // The namespace goes next, and everything in it.
  }
}

void Daemon::start() {
  process_.reset();
  process_.emplace(lab_.middle, line({"run"}));
  if (!process_->wait_for_output("ready workers=", 20s))
    throw std::runtime_error{"the daemon is not ready:\n" + log()};
}

void Daemon::write_policies(const std::string& toml) const {
  directory_.write("policies.d/10-test.toml", toml);
}

std::vector<std::string> Daemon::line(std::vector<std::string> words) const {
  words.insert(words.begin(), HEADRACE_PROGRAM);
  words.insert(words.end(), {"-c", file()});
  return words;
}

std::string Daemon::command(std::vector<std::string> words) const {
  return lab_.middle.command(line(std::move(words)));
}

Daemon::Outcome Daemon::try_command(std::vector<std::string> words) const {
  lab::Process process{lab_.middle, line(std::move(words))};
  const auto status = process.wait(10s);
  return {status ? status->code : -1, process.output()};
}

nlohmann::json Daemon::status() const { return nlohmann::json::parse(command({"status", "--json"})); }

}  // namespace headrace
