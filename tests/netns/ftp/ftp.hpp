// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/lab/capture.hpp"
#include "tests/netns/sessions/through.hpp"

// What tests of FTP share: real servers, real clients, and a control channel that a test speaks itself.
namespace headrace {

// vsftpd for anybody, at port 21 of both families: files in its root, uploads into in/, active mode from port
// 20. `more`: lines of vsftpd.conf.
class Vsftpd {
 public:
  explicit Vsftpd(const lab::Namespace& where, const std::string& more = "");
  void offer(const std::string& name, const std::string& bytes) const;
  std::string received(const std::string& name) const;
  // A certificate and its key in one file, for `more` of another server.
  static std::string certificate(const lab::TempDir& directory);

 private:
  lab::TempDir directory_;
  std::optional<lab::Process> process_;
};

// The same with Python's pyftpdlib, at one address.
class PythonFtpd {
 public:
  PythonFtpd(const lab::Namespace& where, const std::string& address);
  void offer(const std::string& name, const std::string& bytes) const;
  std::string received(const std::string& name) const;

 private:
  lab::TempDir directory_;
  std::optional<lab::Process> process_;
};

enum class Client { curl, lftp, ftplib };
enum class Mode { passive, active };
std::string print(Client client);

// The server's file `down` to `here`/got, and `here`/up to in/up: one control connection, two for data.
// Throws with the client's complaint. `host`: an address, not in brackets.
void transfer(const lab::Namespace& where, Client client, Mode mode, const std::string& host,
              const lab::TempDir& here, int port = 21);

// Port 21 is followed; what is announced there gets the policy "data", which matches nothing by itself.
// `data`: lines of that policy.
std::string ftp_policies(const std::string& data);
// Its legs can be told apart on the wire.
constexpr int kClientMss = 777;
constexpr int kServerMss = 888;
std::string marked_policies();

// A control session whose both ends are the test's, over port 21.
class Control {
 public:
  explicit Control(const lab::InlineLab& lab, const std::string& host = lab::kServer4);
  // Says a line at one end and hears it at the other: the line as it came, without its end.
  std::string command(const std::string& line) const;
  std::string reply(const std::string& line) const;
  void close();

  lab::Socket client;
  lab::Socket server;

 private:
  explicit Control(Ends ends);
};

// "198,18,2,2,156,65"
std::string host_port(const std::string& host, int port);
// The elements of both maps of expected data connections, as nft prints them; empty when there is none.
std::string expected_elements(const lab::InlineLab& lab);

// SYNs and their answers from one address to another.
std::vector<lab::Packet> syns(const lab::Capture& capture, const std::string& from, const std::string& to);

}  // namespace headrace
