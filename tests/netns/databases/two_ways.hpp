// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/netns/daemon.hpp"

namespace headrace {

// One server that clients reach in two ways: through headrace, by the addresses that its policy names, and
// direct, by other addresses of the same host that no policy covers. A test compares what it sees by both.
class TwoWays {
 public:
  static constexpr const char* kDirect4 = "198.18.2.9";
  static constexpr const char* kDirect6 = "2001:db8:2::9";

  // `ports` as in a policy, "1521, \"1600-1610\""; `keys`: what else the policy says.
  explicit TwoWays(const std::string& ports, const std::string& keys = "",
                   lab::InlineLabSettings settings = {});

  // Both families; the first of each pair is the way through headrace.
  static std::vector<std::pair<std::string, std::string>> pairs();

  const lab::Namespace& client() const { return lab_.client; }
  const lab::Namespace& server() const { return lab_.server; }
  const Daemon& daemon() const { return daemon_; }
  void kill_daemon() { daemon_.kill(); }
  int accepted() const;  // connections that headrace has taken so far

 private:
  lab::InlineLab lab_;
  Daemon daemon_;
};

// What a program said on stdout and stderr, and how it ended, when it had to say something.
struct Said {
  int status = -1;
  std::string text;
  bool operator==(const Said&) const = default;
};
Said run_to_end(lab::Process& program);

// In front of a server's command line: as a user who may do nothing special, killed with its parent.
std::vector<std::string> as_nobody(std::vector<std::string> line);
// A directory below `directory` that such a server may write to.
std::string directory_for_nobody(const lab::TempDir& directory, const std::string& name);

// A key and its self-signed certificate, NAME.key and NAME.crt in `directory`, for all addresses of a
// TwoWays' server. The key is nobody's.
void make_certificate(const lab::TempDir& directory, const std::string& name);

}  // namespace headrace
