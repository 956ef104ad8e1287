// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace headrace::lab {

// What a new program gets. Descriptors are borrowed; -1 means /dev/null (standard streams) or "here"
// (namespace).
struct SpawnRequest {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // "NAME=value", added to ours
  int network_namespace = -1;
  int input = -1;
  int output = -1;
  int error = -1;
  bool may_outlive_us = false;  // otherwise SIGKILL when the thread that started it ends
};

// fork, setns, exec. Throws when the program could not be started, the exec included.
pid_t spawn(const SpawnRequest& request);

// Runs a program to its end and returns its standard output.
// Throws std::runtime_error "argv: exit 1: what it wrote to stderr" unless it exits with 0.
std::string run_command(const std::vector<std::string>& argv, int network_namespace = -1,
                        std::string_view input = {});

}  // namespace headrace::lab
