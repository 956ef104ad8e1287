// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headrace {

struct CommandResult {
  int status = 0;  // exit status; 128 + signal when it was killed
  std::string out;
  std::string err;
  bool ok() const { return status == 0; }
};

// Runs a program to its end, without a shell, from any thread. The child gets `input` as its standard
// input, no other descriptor of ours, no blocked signal and SIGPIPE as it is by default. Programs are also
// found in /usr/sbin and /sbin when PATH lacks them. Throws std::runtime_error when it can't be started.
CommandResult run_command(const std::vector<std::string>& argv, std::string_view input = {});

// The same; a status other than 0 throws "COMMAND: what it wrote to stderr".
CommandResult require_command(const std::vector<std::string>& argv, std::string_view input = {});

// "ip -4 rule show", quoted where a shell would need it.
std::string print_command(const std::vector<std::string>& argv);

}  // namespace headrace
