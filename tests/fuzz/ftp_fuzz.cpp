// SPDX-License-Identifier: GPL-3.0-or-later
// A control channel, both directions in one input: a byte says whose turn it is and how much comes, then that
// much. However it is cut, it must say the same; what it announces is at the peers' own addresses and at no
// port of a system service, and lies in the line that it came in.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "proxy/ftp_control.hpp"

namespace {

using namespace headrace;

const IpAddress kClient = IpAddress::v4({198, 18, 1, 2});
const IpAddress kServer = IpAddress::v4({198, 18, 2, 2});

struct Turn {
  bool client;
  std::string bytes;
};

std::vector<Turn> turns(std::string text) {
  std::vector<Turn> all;
  while (!text.empty()) {
    const auto head = static_cast<unsigned char>(text.front());
    const std::size_t size = std::min<std::size_t>(head & 127U, text.size() - 1);
    all.push_back({head >= 128, text.substr(1, size)});
    text.erase(0, size + 1);
  }
  return all;
}

void check(const FtpEvent& event, std::string_view line) {
  if (event.kind == FtpEvent::Kind::nothing || event.kind == FtpEvent::Kind::withdrawn) return;
  const bool passive = event.kind == FtpEvent::Kind::passive;
  if (event.at.address != (passive ? kServer : kClient) || event.at.port < 1024) std::abort();
  if (event.begin + event.length > line.size() || (passive && event.length == 0)) std::abort();
}

// What it all says, as text.
std::string follow(const std::vector<Turn>& all, std::size_t piece) {
  FtpControl control{kClient, kServer};
  FtpLines lines[2];
  std::string said;
  for (const Turn& turn : all) {
    FtpLines& reader = lines[turn.client ? 0 : 1];
    for (std::size_t begin = 0; begin < turn.bytes.size();
         begin += std::min(piece, turn.bytes.size() - begin)) {
      const std::string part = turn.bytes.substr(begin, piece);
      for (auto bytes = std::as_bytes(std::span{part}); !bytes.empty();) {
        const std::size_t taken = reader.read(bytes);
        if (taken == 0 || taken > bytes.size() || reader.line().size() > FtpLines::kMostLine) std::abort();
        bytes = bytes.subspan(taken);
        if (reader.is_binary()) control.become_opaque();
        if (!reader.is_complete()) continue;
        const std::string line{reader.line()};
        const FtpEvent event = turn.client ? control.command(line) : control.reply(line);
        check(event, line);
        said += std::to_string(static_cast<int>(event.kind)) + print(event.at) + "\n";
        reader.next();
      }
    }
  }
  return said + (control.is_opaque() ? "opaque" : control.is_transferring() ? "transferring" : "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text;
  text.assign(data, data + size);
  const auto all = turns(text);
  const std::string whole = follow(all, SIZE_MAX);
  if (follow(all, 1) != whole || follow(all, 3) != whole) std::abort();
  return 0;
}
