// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/ftp_control.hpp"

#include <string>
#include <utility>
#include <vector>

#include "tests/test.hpp"

using namespace headrace;

namespace {

constexpr const char* kClient4 = "198.18.1.2";
constexpr const char* kServer4 = "198.18.2.2";
constexpr const char* kClient6 = "2001:db8:1::2";
constexpr const char* kServer6 = "2001:db8:2::2";

IpAddress address(const char* text) { return *parse_address(text); }

// "C" says, "S" answers.
using Transcript = std::vector<std::pair<char, std::string>>;

// A control channel whose bytes come in pieces of a chosen size, and what it brought about, in words.
class Channel {
 public:
  explicit Channel(const char* client = kClient4, const char* server = kServer4, std::size_t piece = SIZE_MAX)
      : control{address(client), address(server)}, piece_{piece} {}

  void says(char who, const std::string& text) {
    FtpLines& lines = who == 'C' ? commands_ : replies_;
    for (std::size_t begin = 0; begin < text.size(); begin += std::min(piece_, text.size() - begin))
      read(who, lines, text.substr(begin, piece_));
  }
  std::vector<std::string> play(const Transcript& transcript) {
    for (const auto& [who, text] : transcript) says(who, text);
    return events;
  }

  std::vector<std::string> events;
  FtpControl control;

 private:
  void read(char who, FtpLines& lines, const std::string& text) {
    for (auto bytes = std::as_bytes(std::span{text}); !bytes.empty();) {
      bytes = bytes.subspan(lines.read(bytes));
      if (lines.is_binary()) control.become_opaque();
      if (!lines.is_complete()) continue;
      note(who == 'C' ? control.command(lines.line()) : control.reply(lines.line()), lines.line());
      lines.next();
    }
  }
  void note(const FtpEvent& event, std::string_view line) {
    const std::string named{line.substr(event.begin, event.length)};
    if (event.kind == FtpEvent::Kind::passive)
      events.push_back("passive " + print(event.at) + (event.extended ? " as " : " in ") + named);
    if (event.kind == FtpEvent::Kind::active)
      events.push_back("active " + print(event.at) + (event.extended ? " as " : " in ") + named);
    if (event.kind == FtpEvent::Kind::withdrawn) events.push_back("withdrawn");
  }

  std::size_t piece_;
  FtpLines commands_;
  FtpLines replies_;
};

using Events = std::vector<std::string>;

// curl and vsftpd.
const Transcript kPassive{{'S', "220 (vsFTPd 3.0.3)\r\n"},
                          {'C', "USER anonymous\r\n"},
                          {'S', "331 Please specify the password.\r\n"},
                          {'C', "PASS ftp@example.com\r\n"},
                          {'S', "230 Login successful.\r\n"},
                          {'C', "PWD\r\n"},
                          {'S', "257 \"/\" is the current directory\r\n"},
                          {'C', "EPSV\r\n"},
                          {'S', "229 Entering Extended Passive Mode (|||50012|)\r\n"},
                          {'C', "TYPE I\r\n"},
                          {'S', "200 Switching to Binary mode.\r\n"},
                          {'C', "SIZE down\r\n"},
                          {'S', "213 3000000\r\n"},
                          {'C', "RETR down\r\n"},
                          {'S', "150 Opening BINARY mode data connection for down (3000000 bytes).\r\n"},
                          {'S', "226 Transfer complete.\r\n"},
                          {'C', "PASV\r\n"},
                          {'S', "227 Entering Passive Mode (198,18,2,2,195,149).\r\n"},
                          {'C', "QUIT\r\n"},
                          {'S', "221 Goodbye.\r\n"}};

// lftp and proftpd: a greeting and a list of features of several lines, commands one behind the other.
const Transcript kActive{{'S', "220-Welcome.\r\n227 Entering Passive Mode (198,18,2,2,4,1)\r\n220 ready\r\n"},
                         {'C', "FEAT\r\n"},
                         {'S', "211-Features:\r\n MDTM\r\n EPRT\r\n 229 no reply\r\n211 End\r\n"},
                         {'C', "AUTH TLS\r\n"},
                         {'S', "500 AUTH not understood\r\n"},
                         {'C', "USER anonymous\r\nPASS x\r\n"},
                         {'S', "331 Anonymous login ok\r\n230-Hello\r\n230 Restrictions apply\r\n"},
                         {'C', "PORT 198,18,1,2,156,65\r\nRETR a\r\n"},
                         {'S', "200 PORT command successful\r\n150 Opening\r\n"},
                         {'S', "226 Transfer complete\r\n"},
                         {'C', "EPRT |1|198.18.1.2|40002|\r\n"},
                         {'S', "200 EPRT command successful\r\n"},
                         {'C', "eprt !1!198.18.1.2!40003!\r\n"},
                         {'S', "522 Network protocol not supported\r\n"}};

}  // namespace

TEST_CASE("ftp control: a session of curl and vsftpd, passive, cut at every byte") {
  for (const std::size_t piece : {SIZE_MAX, std::size_t{1}, std::size_t{2}, std::size_t{7}}) {
    CHECK(Channel{kClient4, kServer4, piece}.play(kPassive) ==
          Events{"passive 198.18.2.2:50012 as 50012", "passive 198.18.2.2:50069 in 198,18,2,2,195,149"});
  }
}

TEST_CASE(
    "ftp control: a session of lftp and proftpd, active, with lines of several and pipelined commands") {
  for (const std::size_t piece : {SIZE_MAX, std::size_t{1}, std::size_t{3}}) {
    CHECK(Channel{kClient4, kServer4, piece}.play(kActive) ==
          Events{"active 198.18.1.2:40001 in 198,18,1,2,156,65",
                 "active 198.18.1.2:40002 as |1|198.18.1.2|40002|",
                 "active 198.18.1.2:40003 as !1!198.18.1.2!40003!", "withdrawn"});
  }
}

TEST_CASE("ftp control: IPv6 has extended places only") {
  Channel channel{kClient6, kServer6};
  CHECK(channel.play({{'S', "220 \r\n"},
                      {'C', "EPRT |2|2001:db8:1::2|40001|\r\n"},
                      {'S', "200 ok\r\n"},
                      {'C', "EPSV 2\r\n"},
                      {'S', "229 ok (!!!40002!)\r\n"},
                      {'C', "EPSV ALL\r\n"},
                      {'S', "200 ok\r\n"}}) ==
        Events{"active [2001:db8:1::2]:40001 as |2|2001:db8:1::2|40001|",
               "passive [2001:db8:2::2]:40002 as 40002"});
}

TEST_CASE("ftp control: a place that is not the peer's own, or below 1024, is none") {
  Channel channel;
  channel.says('S', "220 hello\r\n");
  for (const char* command : {"PORT 198,18,1,9,156,65",
                              "PORT 198,18,2,2,156,65",
                              "PORT 198,18,1,2,0,22",
                              "PORT 198,18,1,2,3,255",
                              "EPRT |1|198.18.1.9|40001|",
                              "EPRT |2|2001:db8:1::2|40001|",
                              "EPRT |1|198.18.1.2|22|",
                              "EPRT |1|198.18.1.2|65536|",
                              "EPRT |3|198.18.1.2|40001|",
                              "EPRT |1|198.18.1.2|40001",
                              "EPRT |1|198.18.1.2|40001|x",
                              "EPRT |1|198.18.1.2|0x7d0|",
                              "EPRT",
                              "EPRT |",
                              "PORT",
                              "PORT 1,2,3",
                              "PORT 198,18,1,2,156,65,7",
                              "PORT 198,18,1,2,156,256",
                              "PORT 198,18,1,2,,65",
                              "PORT 198.18.1.2,156,65"}) {
    channel.says('C', std::string{command} + "\r\n");
    channel.says('S', "200 ok\r\n");
  }
  for (const char* reply :
       {"227 (198,18,2,9,195,149)", "227 (198,18,1,2,195,149)", "227 (198,18,2,2,0,21)", "227 nothing",
        "227 (198,18,2,2,195)", "227 (198,18,2,2,195,149,1)", "227 198,18,2,2,195,1490", "227"}) {
    channel.says('C', "PASV\r\n");
    channel.says('S', std::string{reply} + "\r\n");
  }
  for (const char* reply : {"229 (|||80|)", "229 |||5000|", "229 (|||5000)", "229 (||5000|)", "229 (|||5000|",
                            "229 (|||70000|)", "229 (", "229"}) {
    channel.says('C', "EPSV\r\n");
    channel.says('S', std::string{reply} + "\r\n");
  }
  CHECK(channel.events.empty());
  CHECK_FALSE(channel.control.awaits_place());
  channel.says('C', "PASV\r\n");
  channel.says('S', "227 =198,18,2,2,4,0\r\n");
  CHECK(channel.events == Events{"passive 198.18.2.2:1024 in 198,18,2,2,4,0"});
}

TEST_CASE("ftp control: an answer that nobody asked for is none, nor is a text inside another answer") {
  Channel channel;
  const std::string passive = "227 Entering Passive Mode (198,18,2,2,195,149)\r\n";
  channel.says('S', passive + "220 hello\r\n");
  channel.says('C', "EPSV\r\n");
  channel.says('S', passive);  // to an EPSV
  channel.says('S', "500 no\r\n");
  channel.says('C', "PASV\r\n");
  channel.says('S', "211-Status\r\n" + passive + "211 End\r\n");  // takes the place of the answer
  channel.says('S', passive);
  channel.says('C', "RETR 227 Entering Passive Mode (198,18,2,2,195,149)\r\n");
  channel.says('S', "550 227 Entering Passive Mode (198,18,2,2,195,149): no such file\r\n");
  CHECK(channel.events.empty());
}

TEST_CASE("ftp control: a break before ABOR is no part of the line, and its answers disturb nothing") {
  for (const char* answers : {"426 Failure writing network stream.\r\n226 ABOR successful.\r\n",
                              "226 Transfer complete.\r\n225 No transfer to ABOR.\r\n", "426 aborted\r\n"}) {
    Channel channel;
    channel.says('S', "220 hello\r\n");
    channel.says('C', "RETR big\r\n");
    channel.says('S', "150 here it comes\r\n");
    CHECK(channel.control.is_transferring());
    channel.says('C',
                 "\xff\xf4\xff\xf2"
                 "ABOR\r\n");
    channel.says('S', answers);
    CHECK_FALSE(channel.control.is_transferring());
    channel.says('C', "PA\xff\xfb\x06SV\r\n");
    channel.says('S', "227 ok (198,18,2,2,195,149)\r\n");
    CHECK(channel.events == Events{"passive 198.18.2.2:50069 in 198,18,2,2,195,149"});
  }
}

TEST_CASE("ftp control: a transfer is under way from its mark to its end, whatever is asked meanwhile") {
  Channel channel;
  channel.says('S', "220 hello\r\n");
  channel.says('C', "STOR up\r\n");
  CHECK_FALSE(channel.control.is_transferring());
  channel.says('S', "125-Go\r\n");
  CHECK_FALSE(channel.control.is_transferring());
  channel.says('S', "125 ahead\r\n");
  channel.says('C', "NOOP\r\nSTAT\r\n");
  channel.says('S', "200 ok\r\n213-half\r\n 226 not yet\r\n213 of it\r\n");
  CHECK(channel.control.is_transferring());
  channel.says('S', "226 Transfer complete.\r\n");
  CHECK_FALSE(channel.control.is_transferring());
}

TEST_CASE("ftp control: once TLS is agreed nothing is understood") {
  Channel channel;
  channel.says('S', "220 hello\r\n");
  channel.says('C', "AUTH TLS\r\n");
  channel.says('S', "234 Proceed with negotiation.\r\n");
  CHECK(channel.control.is_opaque());
  channel.says('C', "PASV\r\n");
  channel.says('S', "227 ok (198,18,2,2,195,149)\r\n");
  CHECK(channel.events.empty());
}

TEST_CASE("ftp control: what never was FTP is left alone") {
  Channel channel;
  channel.says('C', std::string{"\x16\x03\x01\x02\x00\x01", 6});
  CHECK(channel.control.is_opaque());
  Channel flooded;
  for (int i = 0; i < 100; ++i) flooded.says('C', "NOOP\r\n");
  CHECK(flooded.control.is_opaque());
}

TEST_CASE("ftp control: a line without an end takes no more room than any other") {
  Channel channel;
  channel.says('S', "220 hello\r\n");
  channel.says('C', "RETR " + std::string(1'000'000, 'a'));
  channel.says('C', "\r\n");
  channel.says('S', "550 " + std::string(100'000, 'b') + "\r\n");
  channel.says('C', "PASV\r\n");
  channel.says('S', "227 ok (198,18,2,2,195,149)\r\n");
  CHECK(channel.events.size() == 1);
}

TEST_CASE("ftp control: a place of ours in the words of a reply") {
  CHECK(print_ftp_place({address(kClient4), 50069}) == "198,18,1,2,195,149");
}
