// SPDX-License-Identifier: GPL-3.0-or-later
// A real FTP server and a real client: control and data connections, passive and active, by both families.
#include <sys/stat.h>

#include <filesystem>

#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

class FtpServer {
 public:
  explicit FtpServer(const lab::Namespace& where) {
    fs::permissions(directory_.path(), fs::perms{0755});
    fs::create_directories(directory_.path() / "root/in");
    fs::create_directories(directory_.path() / "empty");
    fs::permissions(directory_.path() / "root/in", fs::perms{0777});
    directory_.write("vsftpd.conf",
                     "listen=NO\nlisten_ipv6=YES\nbackground=NO\nanonymous_enable=YES\nlocal_enable=NO\n"
                     "write_enable=YES\nanon_upload_enable=YES\nanon_other_write_enable=YES\nanon_umask=022\n"
                     "no_anon_password=YES\nconnect_from_port_20=YES\nseccomp_sandbox=NO\nxferlog_enable=NO\n"
                     "anon_root=" +
                         (directory_ / "root").string() +
                         "\nsecure_chroot_dir=" + (directory_ / "empty").string() + "\n");
    process_.emplace(where, std::vector<std::string>{"vsftpd", directory_ / "vsftpd.conf"});
    if (!eventually([&] { return where.command({"ss", "-tlnH", "sport = :21"}) != ""; }))
      throw std::runtime_error{"vsftpd: " + process_->output()};
  }
  void offer(const std::string& name, const std::string& bytes) const {
    directory_.write("root/" + name, bytes);
    fs::permissions(directory_.path() / "root" / name, fs::perms{0644});
  }
  std::string received(const std::string& name) const {
    return lab::read_file(directory_ / ("root/in/" + name));
  }

 private:
  lab::TempDir directory_;
  std::optional<lab::Process> process_;
};

void transfer_both_ways(const lab::InlineLab& lab, const FtpServer& server, bool active) {
  const lab::TempDir here;
  const std::string down = lab::pattern(3'000'000, 3), up = lab::pattern(2'000'000, 4);
  server.offer("down", down);
  here.write("up", up);
  int turn = 0;
  for (const char* address : {lab::kServer4, lab::kServer6}) {
    CAPTURE(address, active);
    const std::string host =
        address == lab::kServer4 ? lab::kServer4 : "[" + std::string{lab::kServer6} + "]";
    const std::string name = "up" + std::to_string(++turn) + (active ? "a" : "p");
    std::vector<std::string> curl{"curl", "-sS", "--max-time", "30"};
    if (active) curl.insert(curl.end(), {"--ftp-port", "-"});
    auto get = curl, put = curl;
    get.insert(get.end(), {"-o", here / "got", "ftp://" + host + "/down"});
    put.insert(put.end(), {"-T", here / "up", "ftp://" + host + "/in/" + name});
    lab.client.command(get);
    CHECK((lab::read_file(here / "got") == down));
    lab.client.command(put);
    CHECK(server.received(name) == up);
  }
}

}  // namespace

TEST_CASE("ftp: vsftpd and curl, passive, both families, both directions") {
  const lab::InlineLab lab;
  const FtpServer server{lab.server};
  const Daemon daemon{lab};
  transfer_both_ways(lab, server, false);
  CHECK(daemon.status()["counters"]["accepted"] == 8);  // a control and a data connection each
}

TEST_CASE("ftp: vsftpd and curl, active, whether or not the server's connections are intercepted") {
  for (const bool both : {false, true}) {
    const lab::InlineLab lab;
    const FtpServer server{lab.server};
    DaemonSettings settings;
    if (both) settings.intercept = "interfaces = [\"wan0\", \"lan0\"]\n";
    const Daemon daemon{lab, settings};
    transfer_both_ways(lab, server, true);
    const auto counters = daemon.status()["counters"];
    CHECK(counters["accepted"] == (both ? 8 : 4));
    CHECK(counters["other_port"] == 0);  // the data connections kept port 20
  }
}
