// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "bench/lab/namespace.hpp"
#include "bench/lab/process.hpp"
#include "bench/lab/temp_dir.hpp"

namespace headrace::lab {

// Debian's vsftpd with a configuration of its own: anonymous, download/file to fetch, incoming/ to store
// into, active mode from port 20, passive mode on kPassivePorts. Ends with the object.
class FtpServer {
 public:
  static constexpr int kFirstPassivePort = 50000, kLastPassivePort = 50019;

  // Makes `size` random bytes to fetch. `address`: what it listens at.
  FtpServer(const Namespace& where, const TempDir& dir, const std::string& address, std::size_t size,
            bool may_outlive_us);

  const std::filesystem::path& file() const { return file_; }
  std::filesystem::path stored(const std::string& name) const { return root_ / "incoming" / name; }
  void release() { process_.release(); }

 private:
  std::filesystem::path root_;
  std::filesystem::path file_;
  Process process_;
};

enum class FtpMode { passive, active };
enum class FtpDirection { download, upload };

struct FtpTransfer {
  std::chrono::nanoseconds time{0};  // by curl: log-in and all
  std::uint64_t bytes = 0;
  bool intact = false;  // same SHA-256 at both ends
};

// One file with curl, from `client`. `name` keeps the copies of different transfers apart.
// Throws std::runtime_error with curl's complaint when it fails.
FtpTransfer transfer_file(const Namespace& client, const FtpServer& server, const std::string& address,
                          FtpMode mode, FtpDirection direction, const TempDir& dir, const std::string& name);

}  // namespace headrace::lab
