// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "bench/lab/inline_lab.hpp"
#include "bench/lab/process.hpp"
#include "bench/lab/temp_dir.hpp"
#include "bench/workload/ftp.hpp"

namespace headrace::lab {

// Where the demo's programs are: beside each other in one build tree.
struct Programs {
  std::filesystem::path headrace;
  std::filesystem::path workload;
};

inline constexpr int kExchangePort = 1521, kMessagePort = 7000, kFtpPort = 21;
inline constexpr std::uint64_t kWanRate = 100'000'000;  // bit/s
inline constexpr std::size_t kFtpFileSize = 3'000'000;

// The standard lab with a WAN of `rtt` on the client's side and the servers of the demo running: exchanges
// from a moderated sender, small messages with Nagle on, FTP. Owns all of it; nothing is left after it unless
// keep().
class DemoLab {
 public:
  enum class Lifetime { ours, may_be_kept };

  DemoLab(std::chrono::nanoseconds rtt, const Programs& programs, Lifetime lifetime);

  TempDir dir;  // before what lives in it
  InlineLab lab;

  const FtpServer& ftp() const { return ftp_; }
  std::chrono::nanoseconds rtt() const { return rtt_; }
  bool may_be_kept() const { return lifetime_ == Lifetime::may_be_kept; }
  void keep();

 private:
  std::chrono::nanoseconds rtt_;
  Lifetime lifetime_;
  Process exchange_server_;
  Process message_server_;
  FtpServer ftp_;
};

}  // namespace headrace::lab
