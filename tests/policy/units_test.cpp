// SPDX-License-Identifier: GPL-3.0-or-later
#include "policy/units.hpp"

#include <vector>

#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

struct Refused {
  std::string_view text;
  std::string_view why;
};

template <class T>
void check_refused(Parsed<T> (*parse)(std::string_view), const std::vector<Refused>& rows) {
  for (const Refused& row : rows) {
    INFO("text: " << row.text);
    const auto parsed = parse(row.text);
    REQUIRE_FALSE(parsed);
    CHECK_THAT(parsed.complaint(), Catch::Contains(std::string{row.why}));
    CHECK_THAT(parsed.complaint(), Catch::Contains("(a number with "));
  }
}

}  // namespace

TEST_CASE("units: sizes count in 1000 with k and in 1024 with Ki") {
  CHECK(parse_bytes("64KiB")->count == 65536);
  CHECK(parse_bytes("64kB")->count == 64000);
  CHECK(parse_bytes("1.5MiB")->count == 1572864);
  CHECK(parse_bytes("1.5MB")->count == 1500000);
  CHECK(parse_bytes("1000B")->count == 1000);
  CHECK(parse_bytes("0B")->count == 0);
  CHECK(parse_bytes("18446744073709551615B")->count == UINT64_MAX);
}

TEST_CASE("units: a size without a unit, with a sign or too large is refused") {
  check_refused(parse_bytes, {{"600", "no unit"},
                              {"0", "no unit"},
                              {"", "not a size"},
                              {"-1", "negative"},
                              {"-1B", "negative"},
                              {"+1B", "not a size"},
                              {"64k", "unknown unit"},
                              {"64K", "unknown unit"},
                              {"64KB", "unknown unit"},
                              {"1.5M", "unknown unit"},
                              {"1.5B", "finer than"},
                              {"1.B", "not a size"},
                              {".5KiB", "not a size"},
                              {"64 KiB", "unknown unit"},
                              {" 64KiB", "not a size"},
                              {"64KiB ", "unknown unit"},
                              {"1e3B", "unknown unit"},
                              {"0x10B", "unknown unit"},
                              {"18446744073709551616B", "too large"},
                              {"16777216TiB", "too large"},
                              {"1.0000001KiB", "too many digits"}});
}

TEST_CASE("units: durations reach from a microsecond to days") {
  CHECK(*parse_duration("250us") == 250us);
  CHECK(*parse_duration("40ms") == 40ms);
  CHECK(*parse_duration("1.5s") == 1500ms);
  CHECK(*parse_duration("10m") == 10min);
  CHECK(*parse_duration("1h") == 1h);
  CHECK(*parse_duration("1d") == 24h);
  CHECK(*parse_duration("2147483648ms") == Duration{2147483648000});
}

TEST_CASE("units: a duration without a unit, with a sign or too large is refused") {
  check_refused(parse_duration, {{"600", "no unit"},
                                 {"-1", "negative"},
                                 {"-1s", "negative"},
                                 {"1min", "unknown unit"},
                                 {"1M", "unknown unit"},
                                 {"1S", "unknown unit"},
                                 {"0.5us", "finer than"},
                                 {"1h30m", "unknown unit"},
                                 {"9223372036854775808us", "too large"},
                                 {"200000000000000d", "too large"},
                                 {"soon", "not a duration"}});
}

TEST_CASE("units: rates are bits a second in decimal multiples") {
  CHECK(parse_bit_rate("9600bit")->bits_per_second == 9600);
  CHECK(parse_bit_rate("40kbit")->bits_per_second == 40000);
  CHECK(parse_bit_rate("1.536mbit")->bits_per_second == 1536000);
  CHECK(parse_bit_rate("1gbit")->bits_per_second == 1000000000);
  check_refused(parse_bit_rate, {{"2", "no unit"},
                                 {"2m", "unknown unit"},
                                 {"2Mbit", "unknown unit"},
                                 {"2mbps", "unknown unit"},
                                 {"2mB", "unknown unit"},
                                 {"-2mbit", "negative"},
                                 {"99999999999gbit", "too large"}});
}

TEST_CASE("units: what is printed is read back the same") {
  for (const std::uint64_t n :
       {0ULL, 1ULL, 59ULL, 60ULL, 1000ULL, 1024ULL, 1536ULL, 1000000ULL, 3600000000ULL, 7200000000ULL,
        86400000000ULL, 1099511627776ULL, 9223372036854775807ULL}) {
    INFO(n);
    CHECK(parse_bytes(print(Bytes{n}))->count == n);
    CHECK(parse_bit_rate(print(BitRate{n}))->bits_per_second == n);
    CHECK(*parse_duration(print(Duration{n})) == Duration{n});
  }
}

TEST_CASE("units: the largest unit that keeps the number whole is printed") {
  CHECK(print(Bytes{65536}) == "64KiB");
  CHECK(print(Bytes{64000}) == "64kB");
  CHECK(print(Bytes{1001}) == "1001B");
  CHECK(print(BitRate{1536000}) == "1536kbit");
  CHECK(print(Duration{60s}) == "60s");
  CHECK(print(Duration{120s}) == "2m");
  CHECK(print(Duration{1500ms}) == "1500ms");
}

TEST_CASE("units: a number is decimal or hexadecimal, whole and within its bounds") {
  CHECK(*parse_number("42", 0, 100) == 42);
  CHECK(*parse_number("0x00ff", 0, 255) == 255);
  for (const auto* text :
       {"", "-1", "+1", "1.0", "0x", "0xg", "007", " 1", "1 ", "101", "99999999999999999999"}) {
    INFO(text);
    CHECK_FALSE(parse_number(text, 0, 100));
  }
}
