// SPDX-License-Identifier: GPL-3.0-or-later
// Addresses, prefixes, endpoints, ports, sizes, rates, durations and values of leg settings: whatever is
// accepted must print as text that is accepted again and means the same.
#include <cstdlib>

#include "policy/address.hpp"
#include "policy/leg_setting.hpp"
#include "policy/units.hpp"

namespace {

using namespace headrace;

template <class T>
void round_trip(std::string_view text, Parsed<T> (*parse)(std::string_view)) {
  const auto parsed = parse(text);
  if (!parsed) {
    if (parsed.complaint().empty()) std::abort();
    return;
  }
  const auto again = parse(print(*parsed));
  if (!again || !(*again == *parsed)) std::abort();
}

void assign_all(std::string_view text) {
  for (const LegSetting& setting : leg_settings()) {
    Profile profile;
    if (!assign(profile, setting, std::string{text})) continue;
    for (const Side side : {Side::client, Side::server}) {
      for (const Phase phase : {Phase::handshake, Phase::connection}) {
        for (const SocketCall& call : socket_calls(profile, side, phase, Family::ipv6)) {
          if (print(call).empty()) std::abort();
        }
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text;
  text.assign(data, data + size);
  round_trip(text, parse_address);
  round_trip(text, parse_prefix);
  round_trip(text, parse_endpoint);
  round_trip(text, parse_port_range);
  round_trip(text, parse_bytes);
  round_trip(text, parse_bit_rate);
  round_trip(text, parse_duration);
  if (const auto number = parse_number(text, 5, 1000); number && (*number < 5 || *number > 1000))
    std::abort();
  assign_all(text);
  return 0;
}
