// SPDX-License-Identifier: GPL-3.0-or-later
// A packet that the kernel queued as a SYN, or anything else: read without reading beyond it, and what is
// read of a prefix is what is read of the whole.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "proxy/syn_packet.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  const std::vector<std::uint8_t> packet{data, data + size};  // exactly as long, for the sanitizer
  const auto whole = read_syn_packet(packet);
  constexpr std::size_t kCopied = 128;
  const std::vector<std::uint8_t> copied{data, data + std::min(size, kCopied)};
  const auto part = read_syn_packet(copied);
  if (part && (!whole || part->flow != whole->flow || part->sequence != whole->sequence)) std::abort();
  if (whole && !part) std::abort();  // 60 bytes of IP and 20 of TCP are always copied
  return 0;
}
