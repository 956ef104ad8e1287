// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "policy/parsed.hpp"

// Sizes, rates and durations as types, and as the text people write: always with a unit, so that
// nobody has to guess whether "600" is seconds or milliseconds. Pure; round trips: parse(print(x)) == x.
namespace headrace {

struct Bytes {
  std::uint64_t count = 0;
  auto operator<=>(const Bytes&) const = default;
};

struct BitRate {
  std::uint64_t bits_per_second = 0;
  auto operator<=>(const BitRate&) const = default;
};

// The resolution of every timer a leg setting can name (TCP_RTO_MIN_US is the finest).
using Duration = std::chrono::microseconds;

// "64KiB", "1.5MiB", "1000B", "64kB" (k = 1000, Ki = 1024). Overflow, sign and a missing unit are complaints.
Parsed<Bytes> parse_bytes(std::string_view text);
// "2mbit", "40kbit", "1.536mbit", "1gbit", "9600bit" per second, decimal multiples.
Parsed<BitRate> parse_bit_rate(std::string_view text);
// "250us", "40ms", "1.5s", "10m", "2h", "1d".
Parsed<Duration> parse_duration(std::string_view text);
// A whole number, decimal or 0x..., within [low, high].
Parsed<std::uint64_t> parse_number(std::string_view text, std::uint64_t low, std::uint64_t high);

std::string print(Bytes size);
std::string print(BitRate rate);
std::string print(Duration duration);

}  // namespace headrace
