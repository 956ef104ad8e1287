// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/address.hpp"

// What an FTP control channel says of data connections (RFC 959, 1123, 2228, 2428). Pure: no socket, no
// clock. Believes neither end: a place counts only at the address of the peer that may name it, at a port
// from 1024 on, and a server's only in answer to the client's question.
namespace headrace {

// Cuts one direction into lines, in whatever pieces it comes. Telnet commands are left out (the IAC IP and
// IAC DM before an ABOR; RFC 854), the end of a line that is too long is dropped.
class FtpLines {
 public:
  // Ten times what names a place; file names may be longer, and nobody wants those.
  static constexpr std::size_t kMostLine = 512;

  // Reads to the end of the line or of `bytes`; how many it took.
  std::size_t read(std::span<const std::byte> bytes);
  bool is_complete() const { return complete_; }
  // No line of FTP begins so: a TLS record, for one.
  bool is_binary() const { return binary_; }
  std::string_view line() const { return line_; }  // without its end
  void next();

 private:
  enum class Telnet : std::uint8_t { data, command, option };

  void take(unsigned char byte);

  std::string line_;
  Telnet telnet_ = Telnet::data;
  bool complete_ = false;
  bool binary_ = false;
};

struct FtpEvent {
  enum class Kind : std::uint8_t {
    nothing,
    passive,    // the server waits for a data connection `at`
    active,     // the client does
    withdrawn,  // the server has refused the place that the client named last
  };
  Kind kind = Kind::nothing;
  Endpoint at;
  // What names the place in the line: "198,18,2,2,195,149", "|1|198.18.1.2|5282|", of an extended answer the
  // port alone.
  std::size_t begin = 0;
  std::size_t length = 0;
  bool extended = false;
};

// The conversation, a complete line at a time.
class FtpControl {
 public:
  FtpControl(const IpAddress& client, const IpAddress& server) : client_{client}, server_{server} {}

  FtpEvent command(std::string_view line);
  FtpEvent reply(std::string_view line);

  // From here on nothing is understood: TLS has begun, or it never was FTP.
  void become_opaque();
  bool is_opaque() const { return opaque_; }
  // The server has said that a transfer begins, and not yet how it ended.
  bool is_transferring() const { return transferring_; }
  // The client has asked where to connect, and the server has not answered.
  bool awaits_place() const;

 private:
  enum class Command : std::uint8_t { other, passive, extended_passive, active, auth };

  FtpEvent answered(int code, std::string_view line);
  FtpEvent answered_place(Command asked, std::string_view line);
  void ask(Command command);

  IpAddress client_;
  IpAddress server_;
  std::vector<Command> unanswered_{Command::other};  // in order; at first the greeting is due
  std::optional<int> multiline_;                     // the code of a reply that is not at its last line
  bool transferring_ = false;
  bool opaque_ = false;
};

// "198,18,2,2,195,149"; for IPv4 alone.
std::string print_ftp_place(const Endpoint& place);

}  // namespace headrace
