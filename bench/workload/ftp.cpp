// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/workload/ftp.hpp"

#include <sstream>
#include <stdexcept>
#include <thread>

#include "bench/lab/socket.hpp"
#include "bench/lab/spawn.hpp"

namespace headrace::lab {
namespace {

// The user ftp comes with the package; its home must exist although anon_root is used (nobody has none).
// The sandbox and the isolation of vsftpd 3.0.3 fail on kernels newer than itself; the lab needs neither.
std::string configuration(const std::filesystem::path& root, const std::filesystem::path& empty,
                          const std::string& address) {
  return "listen=YES\nlisten_address=" + address +
         "\nbackground=NO\nseccomp_sandbox=NO\nisolate=NO\nisolate_network=NO\n"
         "anonymous_enable=YES\nlocal_enable=NO\nwrite_enable=YES\nanon_upload_enable=YES\n"
         "anon_umask=022\nftp_username=ftp\nanon_root=" +
         root.string() + "\nsecure_chroot_dir=" + empty.string() +
         "\nconnect_from_port_20=YES\npasv_enable=YES\npasv_min_port=" +
         std::to_string(FtpServer::kFirstPassivePort) +
         "\npasv_max_port=" + std::to_string(FtpServer::kLastPassivePort) + "\nxferlog_enable=NO\n";
}

std::filesystem::path make_tree(const TempDir& dir, std::size_t size) {
  using std::filesystem::perms;
  dir.write("ftp/download/file", pattern(size, 20));
  std::filesystem::create_directories(dir / "ftp/incoming");
  std::filesystem::permissions(dir / "ftp/incoming", perms::all);
  std::filesystem::create_directories(dir / "empty");
  return dir / "ftp";
}

std::string sha256(const std::filesystem::path& file) {
  return run_command({"sha256sum", file}).substr(0, 64);
}

void wait_until_listening(const Namespace& where, const Process& server, const std::string& at) {
  const Deadline deadline(10s);
  while (Socket::try_connect(where, at).end != End::done) {
    if (!server.running() || deadline.passed()) throw std::runtime_error("vsftpd: " + server.output());
    std::this_thread::sleep_for(10ms);  // vsftpd tells nobody when it listens
  }
}

}  // namespace

FtpServer::FtpServer(const Namespace& where, const TempDir& dir, const std::string& address, std::size_t size,
                     bool may_outlive_us)
    : root_(make_tree(dir, size)),
      file_(root_ / "download" / "file"),
      process_(where, {"vsftpd", dir.write("vsftpd.conf", configuration(root_, dir / "empty", address))},
               {{}, dir / "vsftpd.log", may_outlive_us}) {
  wait_until_listening(where, process_, address + ":21");
}

FtpTransfer transfer_file(const Namespace& client, const FtpServer& server, const std::string& address,
                          FtpMode mode, FtpDirection direction, const TempDir& dir, const std::string& name) {
  std::vector<std::string> curl{"curl",
                                "--silent",
                                "--show-error",
                                "--max-time",
                                "60",
                                "--write-out",
                                "%{time_total} %{size_download} %{size_upload}"};
  if (mode == FtpMode::active) curl.insert(curl.end(), {"--ftp-port", "-"});
  const bool up = direction == FtpDirection::upload;
  const std::filesystem::path copy = up ? server.stored(name) : dir / ("fetched-" + name);
  const std::string url = "ftp://" + address + (up ? "/incoming/" + name : "/download/file");
  if (up) {
    curl.insert(curl.end(), {"--upload-file", server.file(), url});
  } else {
    curl.insert(curl.end(), {"--output", copy, url});
  }
  std::istringstream written(client.command(curl));
  double seconds = 0;
  std::uint64_t fetched = 0;
  std::uint64_t stored = 0;
  written >> seconds >> fetched >> stored;
  const std::chrono::duration<double> time(seconds);
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(time), fetched + stored,
          sha256(copy) == sha256(server.file())};
}

}  // namespace headrace::lab
