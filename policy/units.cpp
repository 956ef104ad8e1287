// SPDX-License-Identifier: GPL-3.0-or-later
#include "policy/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <span>

namespace headrace {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::uint64_t kKi = 1024;
constexpr std::uint64_t kSecond = 1'000'000;  // microseconds

// Largest first, binary before decimal: the order in which print() tries them.
constexpr std::array<Unit, 9> kByteUnits{{{"TiB", kKi* kKi* kKi* kKi},
                                          {"GiB", kKi* kKi* kKi},
                                          {"MiB", kKi* kKi},
                                          {"KiB", kKi},
                                          {"TB", 1'000'000'000'000},
                                          {"GB", 1'000'000'000},
                                          {"MB", 1'000'000},
                                          {"kB", 1'000},
                                          {"B", 1}}};
constexpr std::array<Unit, 4> kRateUnits{
    {{"gbit", 1'000'000'000}, {"mbit", 1'000'000}, {"kbit", 1'000}, {"bit", 1}}};
constexpr std::array<Unit, 6> kDurationUnits{{{"d", 86'400 * kSecond},
                                              {"h", 3'600 * kSecond},
                                              {"m", 60 * kSecond},
                                              {"s", kSecond},
                                              {"ms", 1'000},
                                              {"us", 1}}};

// One kind of quantity: its units, and how to speak of it.
struct Kind {
  std::string_view noun;
  std::string_view accepted;
  std::span<const Unit> units;
  std::uint64_t high;
};

const Kind kBytesKind{"size", R"(a number with B, kB, KiB, MB, MiB, GB or GiB, like "64KiB")", kByteUnits,
                      UINT64_MAX};
const Kind kRateKind{"rate", R"(a number with bit, kbit, mbit or gbit per second, like "2mbit")", kRateUnits,
                     UINT64_MAX};
const Kind kDurationKind{"duration", R"(a number with us, ms, s, m, h or d, like "40ms")", kDurationUnits,
                         INT64_MAX};

Complaint complain(std::string_view text, std::string_view what, std::string_view accepted) {
  std::string said = "\"";
  said.append(text.substr(0, 80)).append("\" ").append(what).append(" (").append(accepted).append(")");
  return Complaint{std::move(said)};
}

bool is_digit(char c) { return '0' <= c && c <= '9'; }

std::optional<std::uint64_t> digits(std::string_view text, int base = 10) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

// Fractions are exact or refused: six digits times the largest unit still fit 64 bits.
constexpr std::size_t kFractionDigits = 6;

struct Scaled {
  std::uint64_t value = 0;
  const char* wrong = nullptr;
};

Scaled scale(std::string_view whole, std::string_view fraction, std::uint64_t factor, std::uint64_t high) {
  while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
  if (fraction.size() > kFractionDigits) return {0, "has too many digits after the point"};
  const auto count = digits(whole);
  std::uint64_t total = 0;
  if (!count || __builtin_mul_overflow(*count, factor, &total)) return {0, "is too large"};
  if (!fraction.empty()) {
    std::uint64_t parts = *digits(fraction) * factor;
    for (std::size_t i = 0; i < fraction.size(); ++i) {
      if (parts % 10 != 0) return {0, "is finer than the smallest unit"};
      parts /= 10;
    }
    if (__builtin_add_overflow(total, parts, &total)) return {0, "is too large"};
  }
  if (total > high) return {0, "is too large"};
  return {total, nullptr};
}

const Unit* find_unit(std::span<const Unit> units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

Parsed<std::uint64_t> parse_quantity(std::string_view text, const Kind& kind) {
  const auto bad = [&](std::string_view what) { return complain(text, what, kind.accepted); };
  if (!text.empty() && text.front() == '-') return bad("is negative");
  const auto whole_end = std::find_if_not(text.begin(), text.end(), is_digit);
  const std::string_view whole{text.begin(), whole_end};
  if (whole.empty()) return bad(std::string{"is not a "}.append(kind.noun));
  std::string_view unit = text.substr(whole.size());
  std::string_view fraction;
  if (!unit.empty() && unit.front() == '.') {
    unit.remove_prefix(1);
    fraction = {unit.begin(), std::find_if_not(unit.begin(), unit.end(), is_digit)};
    if (fraction.empty()) return bad(std::string{"is not a "}.append(kind.noun));
    unit.remove_prefix(fraction.size());
  }
  if (unit.empty()) return bad("has no unit");
  const Unit* known = find_unit(kind.units, unit);
  if (known == nullptr) return bad("has an unknown unit");
  const Scaled scaled = scale(whole, fraction, known->factor, kind.high);
  if (scaled.wrong != nullptr) return bad(scaled.wrong);
  return scaled.value;
}

std::string print_quantity(std::uint64_t value, std::span<const Unit> units) {
  const auto fits = [&](const Unit& unit) {
    return unit.factor == 1 || (value >= unit.factor && value % unit.factor == 0);
  };
  const auto unit = std::find_if(units.begin(), units.end(), fits);
  return std::to_string(value / unit->factor).append(unit->name);
}

}  // namespace

Parsed<Bytes> parse_bytes(std::string_view text) {
  const auto count = parse_quantity(text, kBytesKind);
  if (!count) return Complaint{count.complaint()};
  return Bytes{*count};
}

Parsed<BitRate> parse_bit_rate(std::string_view text) {
  const auto count = parse_quantity(text, kRateKind);
  if (!count) return Complaint{count.complaint()};
  return BitRate{*count};
}

Parsed<Duration> parse_duration(std::string_view text) {
  const auto count = parse_quantity(text, kDurationKind);
  if (!count) return Complaint{count.complaint()};
  return Duration{static_cast<Duration::rep>(*count)};
}

Parsed<std::uint64_t> parse_number(std::string_view text, std::uint64_t low, std::uint64_t high) {
  const std::string accepted = "a whole number " + std::to_string(low) + "-" + std::to_string(high);
  const bool hex = text.starts_with("0x");
  const bool leading_zero = !hex && text.size() > 1 && text.front() == '0';
  const auto value = leading_zero ? std::nullopt : digits(hex ? text.substr(2) : text, hex ? 16 : 10);
  if (!value) return complain(text, "is not a number", accepted);
  if (*value < low || *value > high) return complain(text, "is out of range", accepted);
  return *value;
}

std::string print(Bytes size) { return print_quantity(size.count, kByteUnits); }
std::string print(BitRate rate) { return print_quantity(rate.bits_per_second, kRateUnits); }
std::string print(Duration duration) {
  if (duration.count() < 0) return "-" + print(-duration);
  const auto value = static_cast<std::uint64_t>(duration.count());
  // One minute is written and read as 60s: minutes, hours and days only where there are two of them.
  std::span<const Unit> units{kDurationUnits};
  while (units.front().factor > kSecond && value < 2 * units.front().factor) units = units.subspan(1);
  return print_quantity(value, units);
}

}  // namespace headrace
