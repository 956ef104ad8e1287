// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/syn_facts.hpp"

namespace headrace {
namespace {

// The maximum segment size among the options of a TCP header; 0: it has none (RFC 9293, 3.1 and 3.2).
std::uint16_t mss_option(std::span<const std::uint8_t> options) {
  constexpr std::uint8_t kEnd = 0, kNothing = 1, kMss = 2;
  while (options.size() >= 2 && options[0] != kEnd) {
    const std::size_t length = options[0] == kNothing ? 1 : options[1];
    if (length == 0 || length > options.size()) return 0;
    if (options[0] == kMss && length == 4) return static_cast<std::uint16_t>(options[2] << 8 | options[3]);
    options = options.subspan(length);
  }
  return 0;
}

}  // namespace

SynFacts read_syn(std::span<const std::uint8_t> headers) {
  constexpr std::size_t kTcpHeader = 20, kIpv6Header = 40;
  if (headers.size() < kTcpHeader + 20) return {};
  const bool v4 = headers[0] >> 4 == 4;
  const unsigned traffic_class = v4 ? headers[1] : ((headers[0] & 0x0fU) << 4 | headers[1] >> 4);
  const std::size_t ip = v4 ? (headers[0] & 0x0fU) * 4U : kIpv6Header;
  SynFacts facts{.dscp = {static_cast<std::uint8_t>(traffic_class >> 2)}};
  if (headers.size() >= ip + kTcpHeader) facts.mss = mss_option(headers.subspan(ip + kTcpHeader));
  return facts;
}

}  // namespace headrace
