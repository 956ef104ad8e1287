// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/ftp_control.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace headrace {
namespace {

// RFC 854.
constexpr unsigned char kIac = 255;
constexpr unsigned char kFirstCommand = 240;
constexpr unsigned char kFirstNegotiation = 251;  // WILL, WONT, DO, DONT: an option follows

// Nobody asks so much before an answer came; who does can't be followed.
constexpr std::size_t kMostUnanswered = 64;
constexpr std::uint16_t kLowestPort = 1024;

// RFC 959, 2228.
constexpr int kPassive = 227;
constexpr int kExtendedPassive = 229;
constexpr int kAuthDone = 234;
constexpr int kAuthGoesOn = 334;

bool is_digit(char c) { return '0' <= c && c <= '9'; }
char upper(char c) { return 'a' <= c && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool is_word(std::string_view text, std::string_view word) {
  return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                    [](char a, char b) { return upper(a) == b; });
}

// A decimal number at the beginning of `text`, which moves behind it; nothing when it is above `most`.
std::optional<unsigned> take_number(std::string_view& text, unsigned most) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value > most) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// "h1,h2,h3,h4,p1,p2" at the beginning of `text`; what is left of it.
std::optional<Endpoint> take_host_port(std::string_view& text) {
  std::array<std::uint8_t, 6> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0 && (text.empty() || text.front() != ',')) return std::nullopt;
    if (i > 0) text.remove_prefix(1);
    const auto number = take_number(text, 255);
    if (!number) return std::nullopt;
    numbers[i] = static_cast<std::uint8_t>(*number);
  }
  return Endpoint{IpAddress::v4({numbers[0], numbers[1], numbers[2], numbers[3]}),
                  static_cast<std::uint16_t>(numbers[4] << 8 | numbers[5])};
}

// "Entering Passive Mode (h1,h2,h3,h4,p1,p2)", the brackets or not (RFC 1123, 4.1.2.6).
FtpEvent find_host_port(std::string_view line) {
  for (std::size_t begin = 4; begin < line.size(); ++begin) {
    if (!is_digit(line[begin]) || is_digit(line[begin - 1])) continue;
    std::string_view text = line.substr(begin);
    const auto place = take_host_port(text);
    if (!place || (!text.empty() && (is_digit(text.front()) || text.front() == ','))) continue;
    return {FtpEvent::Kind::passive, *place, begin, line.size() - begin - text.size(), false};
  }
  return {};
}

// "(|||port|)", with any delimiter.
FtpEvent find_extended_port(std::string_view line, const IpAddress& server) {
  const std::size_t open = line.find('(', 3);
  if (open == line.npos || open + 4 >= line.size()) return {};
  const char delimiter = line[open + 1];
  if (line[open + 2] != delimiter || line[open + 3] != delimiter) return {};
  std::string_view text = line.substr(open + 4);
  const auto port = take_number(text, 65535);
  if (!port || text.size() < 2 || text[0] != delimiter || text[1] != ')') return {};
  const std::size_t begin = open + 4;
  return {FtpEvent::Kind::passive,
          {server, static_cast<std::uint16_t>(*port)},
          begin,
          line.size() - begin - text.size(),
          true};
}

// "|1|198.18.1.2|5282|", "|2|2001:db8:1::2|5282|", with any delimiter.
std::optional<Endpoint> parse_extended_place(std::string_view text) {
  if (text.size() < 2) return std::nullopt;
  const char delimiter = text.front();
  std::array<std::string_view, 3> fields;
  for (std::string_view& field : fields) {
    text.remove_prefix(1);
    const std::size_t end = text.find(delimiter);
    if (end == text.npos) return std::nullopt;
    field = text.substr(0, end);
    text.remove_prefix(end);
  }
  if (text.size() != 1 || (fields[0] != "1" && fields[0] != "2")) return std::nullopt;
  const auto address = parse_address(fields[1]);
  const auto port = take_number(fields[2], 65535);
  if (!address || !port || !fields[2].empty()) return std::nullopt;
  return Endpoint{*address, static_cast<std::uint16_t>(*port)};
}

std::optional<Endpoint> parse_place(std::string_view word, std::string_view argument) {
  if (is_word(word, "EPRT")) return parse_extended_place(argument);
  const auto place = take_host_port(argument);
  return argument.empty() ? place : std::nullopt;
}

bool is_sane(const std::optional<Endpoint>& place, const IpAddress& peer) {
  return place && place->address == peer && place->port >= kLowestPort;
}

std::optional<int> code_of(std::string_view line) {
  if (line.size() < 3 || !is_digit(line[0]) || !is_digit(line[1]) || !is_digit(line[2])) return std::nullopt;
  if (line.size() > 3 && line[3] != ' ' && line[3] != '-') return std::nullopt;
  return (line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0');
}

bool begins_transfer(int code) { return code == 125 || code == 150; }

// Other answers may come while one goes on, to a STAT or a NOOP.
bool ends_transfer(int code) { return code == 225 || code == 226 || code == 250 || code >= 400; }

}  // namespace

std::size_t FtpLines::read(std::span<const std::byte> bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size() && !complete_) take(static_cast<unsigned char>(bytes[taken++]));
  return taken;
}

void FtpLines::take(unsigned char byte) {
  if (telnet_ == Telnet::option) {
    telnet_ = Telnet::data;
    return;
  }
  if (telnet_ == Telnet::command) {
    telnet_ = byte >= kFirstNegotiation && byte != kIac ? Telnet::option : Telnet::data;
    // IAC IAC is the byte itself; what is no command was meant as it stands by who knows no telnet.
    if (byte >= kFirstCommand && byte != kIac) return;
  } else if (byte == kIac) {
    telnet_ = Telnet::command;
    return;
  }
  if (byte == '\n') {
    complete_ = true;
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    return;
  }
  if (line_.empty() && byte < ' ' && byte != '\r') binary_ = true;
  if (line_.size() < kMostLine) line_.push_back(static_cast<char>(byte));
}

void FtpLines::next() {
  line_.clear();
  complete_ = false;
}

void FtpControl::become_opaque() {
  opaque_ = true;
  transferring_ = false;
  unanswered_ = {};
}

bool FtpControl::awaits_place() const {
  return std::any_of(unanswered_.begin(), unanswered_.end(), [](Command command) {
    return command == Command::passive || command == Command::extended_passive;
  });
}

void FtpControl::ask(Command command) {
  unanswered_.push_back(command);
  if (unanswered_.size() > kMostUnanswered) become_opaque();
}

FtpEvent FtpControl::command(std::string_view line) {
  if (opaque_ || line.empty()) return {};
  const std::size_t space = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, space);
  const std::string_view argument = trimmed(line.substr(space));
  Command command = Command::other;
  FtpEvent event;
  if (is_word(word, "PASV")) command = Command::passive;
  if (is_word(word, "EPSV") && !is_word(argument, "ALL")) command = Command::extended_passive;
  if (is_word(word, "AUTH")) command = Command::auth;
  if (is_word(word, "PORT") || is_word(word, "EPRT")) {
    const auto place = parse_place(word, argument);
    if (is_sane(place, client_)) {
      command = Command::active;
      const auto begin = static_cast<std::size_t>(argument.data() - line.data());
      event = {FtpEvent::Kind::active, *place, begin, argument.size(), is_word(word, "EPRT")};
    }
  }
  ask(command);
  return opaque_ ? FtpEvent{} : event;
}

FtpEvent FtpControl::reply(std::string_view line) {
  if (opaque_) return {};
  const auto code = code_of(line);
  const bool goes_on = line.size() > 3 && line[3] == '-';
  if (multiline_) {
    if (code != multiline_ || goes_on) return {};
    multiline_.reset();
  } else if (!code) {
    return {};  // not ours to judge
  } else if (goes_on) {
    multiline_ = code;
    return {};
  }
  return answered(*code, line);
}

FtpEvent FtpControl::answered(int code, std::string_view line) {
  if (code < 200) {
    transferring_ |= begins_transfer(code);
    return {};
  }
  if (code == kPassive) return answered_place(Command::passive, line);
  if (code == kExtendedPassive) return answered_place(Command::extended_passive, line);
  if (unanswered_.empty()) return {};
  const bool asked_auth =
      std::find(unanswered_.begin(), unanswered_.end(), Command::auth) != unanswered_.end();
  if (asked_auth && (code == kAuthDone || code == kAuthGoesOn)) {
    become_opaque();
    return {};
  }
  const bool of_later = transferring_ && !ends_transfer(code);
  if (of_later && unanswered_.size() < 2) return {};
  const auto which = unanswered_.begin() + (of_later ? 1 : 0);
  const Command command = *which;
  unanswered_.erase(which);
  if (!of_later) transferring_ = false;
  if (command == Command::active && code >= 400) return {FtpEvent::Kind::withdrawn, {}, 0, 0, false};
  return {};
}

// By its code and not by its turn: a server may leave a question unanswered (an ABOR), or answer one twice.
FtpEvent FtpControl::answered_place(Command asked, std::string_view line) {
  const auto question = std::find(unanswered_.begin(), unanswered_.end(), asked);
  if (question == unanswered_.end()) return {};
  unanswered_.erase(unanswered_.begin(), question + 1);
  transferring_ = false;
  const FtpEvent event = asked == Command::passive ? find_host_port(line) : find_extended_port(line, server_);
  return event.kind == FtpEvent::Kind::passive && is_sane(event.at, server_) ? event : FtpEvent{};
}

std::string print_ftp_place(const Endpoint& place) {
  std::string text = print(place.address);
  std::replace(text.begin(), text.end(), '.', ',');
  return text + "," + std::to_string(place.port >> 8) + "," + std::to_string(place.port & 255);
}

}  // namespace headrace
