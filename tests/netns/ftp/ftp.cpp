// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/ftp/ftp.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "bench/lab/spawn.hpp"

namespace headrace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

void make_tree(const lab::TempDir& directory) {
  fs::permissions(directory.path(), fs::perms{0755});
  fs::create_directories(directory.path() / "root/in");
  fs::create_directories(directory.path() / "empty");
  fs::permissions(directory.path() / "root/in", fs::perms{0777});
}

void offer_in(const lab::TempDir& directory, const std::string& name, const std::string& bytes) {
  directory.write("root/" + name, bytes);
  fs::permissions(directory.path() / "root" / name, fs::perms{0644});
}

void wait_until_listening(const lab::Namespace& where, const lab::Process& server) {
  if (!eventually([&] { return where.command({"ss", "-tlnH", "sport = :21"}) != ""; }))
    throw std::runtime_error{"no FTP server: " + server.output()};
}

constexpr const char* kPythonFtpd = R"(import sys
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer
FTPHandler.authorizer = DummyAuthorizer()
FTPHandler.authorizer.add_anonymous(sys.argv[2], perm='elradfmwMT')
FTPServer((sys.argv[1], 21), FTPHandler).serve_forever()
)";

constexpr const char* kFtplib = R"(import ftplib, sys
host, port, passive, here = sys.argv[1], int(sys.argv[2]), sys.argv[3] == 'passive', sys.argv[4]
ftp = ftplib.FTP()
ftp.connect(host, port, 20)
ftp.login()
ftp.set_pasv(passive)
with open(here + '/got', 'wb') as file: ftp.retrbinary('RETR down', file.write)
with open(here + '/up', 'rb') as file: ftp.storbinary('STOR in/up', file)
ftp.quit()
)";

std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

void by_curl(const lab::Namespace& where, Mode mode, const std::string& url, const lab::TempDir& here) {
  std::vector<std::string> options{"-sS", "--max-time", "60"};
  if (mode == Mode::active) options.insert(options.end(), {"--ftp-port", "-"});
  std::vector<std::string> line{"curl"};
  line.insert(line.end(), options.begin(), options.end());
  line.insert(line.end(), {"-o", here / "got", url + "/down", "--next"});
  line.insert(line.end(), options.begin(), options.end());
  line.insert(line.end(), {"-T", here / "up", url + "/in/up"});
  where.command(line);
}

void by_lftp(const lab::Namespace& where, Mode mode, const std::string& url, const lab::TempDir& here) {
  where.command({"lftp", "-c",
                 "set net:timeout 20; set net:max-retries 1; set xfer:clobber on; set ftp:ssl-allow no; set "
                 "ftp:passive-mode " +
                     std::string{mode == Mode::passive ? "on" : "off"} + "; open " + url +
                     " && get down -o " + (here / "got").string() + " && put " + (here / "up").string() +
                     " -o in/up"});
}

}  // namespace

Vsftpd::Vsftpd(const lab::Namespace& where, const std::string& more) {
  make_tree(directory_);
  directory_.write("vsftpd.conf",
                   "listen=NO\nlisten_ipv6=YES\nbackground=NO\nanonymous_enable=YES\nlocal_enable=NO\n"
                   "write_enable=YES\nanon_upload_enable=YES\nanon_other_write_enable=YES\nanon_umask=022\n"
                   "no_anon_password=YES\nconnect_from_port_20=YES\nseccomp_sandbox=NO\nxferlog_enable=NO\n"
                   "anon_root=" +
                       (directory_ / "root").string() +
                       "\nsecure_chroot_dir=" + (directory_ / "empty").string() + "\n" + more);
  process_.emplace(where, std::vector<std::string>{"vsftpd", directory_ / "vsftpd.conf"});
  wait_until_listening(where, *process_);
}

void Vsftpd::offer(const std::string& name, const std::string& bytes) const {
  offer_in(directory_, name, bytes);
}

std::string Vsftpd::received(const std::string& name) const {
  return lab::read_file(directory_ / ("root/in/" + name));
}

std::string Vsftpd::certificate(const lab::TempDir& directory) {
  const std::string file = directory / "server.pem";
  lab::run_command({"openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                    "/CN=ftp.example", "-keyout", file, "-out", directory / "certificate.pem"});
  return directory.write("both.pem", lab::read_file(file) + lab::read_file(directory / "certificate.pem"));
}

PythonFtpd::PythonFtpd(const lab::Namespace& where, const std::string& address) {
  make_tree(directory_);
  process_.emplace(
      where, std::vector<std::string>{"/usr/bin/python3", "-c", kPythonFtpd, address, directory_ / "root"});
  wait_until_listening(where, *process_);
}

void PythonFtpd::offer(const std::string& name, const std::string& bytes) const {
  offer_in(directory_, name, bytes);
}

std::string PythonFtpd::received(const std::string& name) const {
  return lab::read_file(directory_ / ("root/in/" + name));
}

std::string print(Client client) {
  return client == Client::curl ? "curl" : client == Client::lftp ? "lftp" : "ftplib";
}

void transfer(const lab::Namespace& where, Client client, Mode mode, const std::string& host,
              const lab::TempDir& here, int port) {
  const std::string url = "ftp://" + bracketed(host) + ":" + std::to_string(port);
  if (client == Client::curl) return by_curl(where, mode, url, here);
  if (client == Client::lftp) return by_lftp(where, mode, url, here);
  where.command({"/usr/bin/python3", "-c", kFtplib, host, std::to_string(port),
                 mode == Mode::passive ? "passive" : "active", here.path().string()});
}

std::string ftp_policies(const std::string& data) {
  return "[[policy]]\nname = \"control\"\nto = [\"any\"]\nports = [21]\nclient_leg = \"lan\"\n"
         "app = \"ftp\"\ndata_policy = \"data\"\n[[policy]]\nname = \"data\"\n" +
         data;
}

std::string marked_policies() {
  return ftp_policies("client_leg = { profile = \"plain\", mss = " + std::to_string(kClientMss) +
                      " }\nserver_leg = { profile = \"plain\", mss = " + std::to_string(kServerMss) + " }\n");
}

Control::Control(const lab::InlineLab& lab, const std::string& host)
    : Control{connect_ends(lab, lab::endpoint(host, 21))} {}

Control::Control(Ends ends) : client{std::move(ends.client)}, server{std::move(ends.server)} {
  reply("220 hello");
}

namespace {

std::string say(const lab::Socket& from, const lab::Socket& to, const std::string& line) {
  from.send_all(line + "\r\n");
  std::string heard;
  while (!heard.ends_with("\r\n")) {
    const auto more = to.receive_some(1);
    if (more.end != lab::End::done) return heard + " and then " + lab::to_text(more.end);
    heard += more.bytes;
  }
  return heard.substr(0, heard.size() - 2);
}

}  // namespace

std::string Control::command(const std::string& line) const { return say(client, server, line); }
std::string Control::reply(const std::string& line) const { return say(server, client, line); }

void Control::close() {
  client.close();
  server.receive_to_end();
  server.close();
}

std::string host_port(const std::string& host, int port) {
  std::string text = host;
  std::replace(text.begin(), text.end(), '.', ',');
  return text + "," + std::to_string(port / 256) + "," + std::to_string(port % 256);
}

std::string expected_elements(const lab::InlineLab& lab) {
  std::string elements;
  for (const char* map : {"expected_ipv4", "expected_ipv6"}) {
    const std::string text = lab.middle.command({"nft", "list", "map", "inet", "headrace", map});
    const auto begin = text.find("elements = {");
    if (begin != std::string::npos) elements += text.substr(begin, text.find('}', begin) - begin);
  }
  return elements;
}

std::vector<lab::Packet> syns(const lab::Capture& capture, const std::string& from, const std::string& to) {
  return capture.packets(
      [&](const lab::Packet& packet) { return packet.syn && packet.from == from && packet.to == to; });
}

}  // namespace headrace
