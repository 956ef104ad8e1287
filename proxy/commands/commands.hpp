// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>

#include "policy/address.hpp"

// The verbs of the command line, one file each. Every one returns the exit status: 0 good, 1 the thing
// asked about is bad. Usage errors (2) are main's. They throw what the layers below throw; main prints it.
namespace headrace {

struct ForwardRequest {
  Endpoint listen;
  Endpoint to;
  std::string client_leg = "wan-interactive";
  std::string server_leg = "lan";
  bool ftp = false;  // follow its control channel: data connections come here too
};

struct ExplainRequest {
  Endpoint client;  // port 0: any
  Endpoint to;
  bool json = false;
};

struct DoctorRequest {
  std::optional<Endpoint> client;  // with `to`: follow one flow both ways
  std::optional<Endpoint> to;      // port 0: any
  bool json = false;
};

struct NetRequest {
  std::string verb;           // show, up, down, status
  bool static_rules = false;  // up: the diversion too
  bool force = false;         // down: under a running daemon as well
};

int run_daemon(const std::string& file);
int run_forward(const ForwardRequest& request);
int run_check(const std::string& file, bool json);
int run_explain(const std::string& file, const ExplainRequest& request);
int run_policies(const std::string& file, bool json);
int run_net(const std::string& file, const NetRequest& request);
int run_bypass(const std::string& file, const std::string& verb);
int run_status(const std::string& file, bool json);
int run_reload(const std::string& file);
int run_drain(const std::string& file);
int run_doctor(const std::string& file, const DoctorRequest& request);
int print_features();

}  // namespace headrace
