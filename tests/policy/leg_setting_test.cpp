// SPDX-License-Identifier: GPL-3.0-or-later
#include "policy/leg_setting.hpp"

#include <set>

#include "tests/test.hpp"

using namespace headrace;
using Catch::Contains;

namespace {

struct Row {
  std::string_view key;
  RawValue value;
  std::string_view printed;  // or, after '!', a part of the complaint
};

std::string text(std::string_view value) { return std::string{value}; }

// Each key with what it takes and what it refuses.
const Row kRows[] = {
    {"nodelay", false, "false"},
    {"nodelay", text("yes"), "!true, false"},
    {"nodelay", std::int64_t{0}, "!0 is not accepted"},
    {"quickack", text("always"), "\"always\""},
    {"quickack", text("off"), "\"off\""},
    {"quickack", true, "!\"auto\", \"always\" or \"off\""},
    {"cork", text("5ms"), "\"5ms\""},
    {"cork", text("off"), "\"off\""},
    {"cork", text("2s"), "!out of range"},
    {"cork", std::int64_t{5}, "!5 has no unit (\"auto\", \"off\" or a duration \"100us\" to \"200ms\")"},
    {"mss", std::int64_t{1460}, "1460"},
    {"mss", text("mirror"), "\"mirror\""},
    {"mss", std::int64_t{87}, "!out of range"},
    {"mss", std::int64_t{32768}, "!out of range (\"auto\", \"mirror\" or 88-32767)"},
    {"mss", text("1460"), "!\"1460\" is not accepted"},
    {"mss", std::int64_t{-1}, "!-1 is out of range"},
    {"receive_buffer", text("64KiB"), "\"64KiB\""},
    {"receive_buffer", text("auto"), "\"auto\""},
    {"receive_buffer", text("off"), "!\"auto\" or a size \"2KiB\""},
    {"receive_buffer", std::int64_t{65536}, "!65536 has no unit"},
    {"receive_buffer", text("2GiB"), "!out of range"},
    {"send_buffer", text("8kB"), "\"8kB\""},
    {"send_buffer", text("-1B"), "!negative"},
    {"window_clamp", text("16KiB"), "\"16KiB\""},
    {"initial_window", std::int64_t{60}, "60"},
    {"initial_window", std::int64_t{0}, "!0 is out of range"},
    {"initial_receive_window", std::int64_t{40}, "40"},
    {"congestion", text("cubic"), "\"cubic\""},
    {"congestion", text("auto"), "\"auto\""},
    {"congestion", text("cu bic"), "!not accepted"},
    {"congestion", text("a_name_of_16_chr"), "!not accepted"},
    {"congestion", text(""), "!not accepted"},
    {"pace", text("2mbit"), "\"2mbit\""},
    {"pace", text("1bit"), "!at least \"8kbit\""},
    {"burst", text("50kB"), "\"50kB\""},
    {"unsent_limit", text("128KiB"), "\"128KiB\""},
    {"unsent_limit", text("0B"), "!out of range"},
    {"rto_min", text("40ms"), "\"40ms\""},
    {"rto_min", text("7ms"), "!out of range"},
    {"rto_max", text("10s"), "\"10s\""},
    {"rto_max", text("121s"), "!\"1s\" to \"2m\""},
    {"delayed_ack_max", text("8ms"), "\"8ms\""},
    {"delayed_ack_max", text("201ms"), "!out of range"},
    {"timestamps", false, "false"},
    {"timestamps", text("auto"), "\"auto\""},
    {"timestamps", text("off"), "!\"auto\" or true, false"},
    {"sack", true, "true"},
    {"keepalive", false, "false"},
    {"keepalive_idle", text("90s"), "\"90s\""},
    {"keepalive_idle", text("off"), "!not a duration"},
    {"keepalive_idle", text("500ms"), "!out of range"},
    {"keepalive_interval", text("32767s"), "\"32767s\""},
    {"keepalive_interval", text("32768s"), "!out of range"},
    {"keepalive_count", std::int64_t{127}, "127"},
    {"keepalive_count", std::int64_t{128}, "!1-127"},
    {"user_timeout", text("30s"), "\"30s\""},
    {"user_timeout", text("off"), "\"off\""},
    {"user_timeout", text("10us"), "!out of range"},
    {"dscp", text("ef"), "\"ef\""},
    {"dscp", std::int64_t{34}, "\"af41\""},
    {"dscp", std::int64_t{63}, "63"},
    {"dscp", text("preserve"), "\"preserve\""},
    {"dscp", std::int64_t{64}, "!out of range"},
    {"dscp", text("best"), "!\"best\" is not accepted"},
    {"thin_stream", true, "true"},
    {"fast_open", true, "true"},
    {"mark", std::int64_t{256}, "0x100"},
    {"mark", text("0x100"), "0x100"},
    {"mark", text("off"), "\"off\""},
    {"mark", std::int64_t{0}, "!out of range"},
    {"mark", std::int64_t{4294967296}, "!out of range"},
    {"mark", text("red"), "!\"red\" is not a number"},
};

}  // namespace

TEST_CASE("leg settings: each key takes what it accepts and says why it refuses the rest") {
  for (const Row& row : kRows) {
    const LegSetting* setting = find_leg_setting(row.key);
    REQUIRE(setting != nullptr);
    Profile profile;
    const auto assigned = assign(profile, *setting, row.value);
    INFO("key: " << row.key << ", expected: " << row.printed);
    if (row.printed.starts_with('!')) {
      REQUIRE_FALSE(assigned);
      CHECK_THAT(assigned.complaint(), Contains(text(row.printed.substr(1))));
      CHECK_THAT(assigned.complaint(), Contains(" (" + accepted(*setting) + ")"));
      CHECK(profile == Profile{});
    } else {
      REQUIRE(assigned);
      CHECK(print_value(profile, *setting) == row.printed);
    }
  }
}

TEST_CASE("leg settings: the table of this test covers every key") {
  std::set<std::string_view> covered;
  for (const Row& row : kRows) covered.insert(row.key);
  for (const LegSetting& setting : leg_settings()) {
    INFO(setting.key);
    CHECK(covered.contains(setting.key));
  }
  CHECK(covered.size() == leg_settings().size());
}

TEST_CASE("leg settings: a setting that was changed can be put back") {
  for (const Row& row : kRows) {
    Profile profile;
    const LegSetting* setting = find_leg_setting(row.key);
    if (!assign(profile, *setting, row.value)) continue;
    reset(profile, *setting);
    CHECK(profile == Profile{});
  }
}

TEST_CASE("leg settings: each row is complete") {
  std::set<std::string_view> keys;
  for (const LegSetting& setting : leg_settings()) {
    INFO(setting.key);
    CHECK(keys.insert(setting.key).second);
    CHECK(setting.says.size() > 20);
    CHECK(setting.says.ends_with('.'));
    CHECK(setting.since.major >= 2);
    CHECK_FALSE(accepted(setting).empty());
    CHECK_FALSE(print_value(Profile{}, setting).empty());
    const auto* stored = std::get_if<InStorage>(&setting.how);
    if (stored != nullptr) CHECK_FALSE(stored->loss.empty());
  }
  CHECK(find_leg_setting("no_delay") == nullptr);
}

TEST_CASE("leg settings: what one side cannot have is named for that side alone") {
  const auto wrong = [](std::string_view key, const RawValue& value, Side side) {
    Profile profile;
    const LegSetting* setting = find_leg_setting(key);
    REQUIRE(assign(profile, *setting, value));
    return !wrong_side(profile, *setting, side).empty();
  };
  CHECK(wrong("mss", text("mirror"), Side::client));
  CHECK_FALSE(wrong("mss", text("mirror"), Side::server));
  CHECK_FALSE(wrong("mss", std::int64_t{1460}, Side::client));
  CHECK_FALSE(wrong("initial_receive_window", std::int64_t{10}, Side::client));
  CHECK_FALSE(wrong("initial_window", std::int64_t{60}, Side::client));
  for (const LegSetting& setting : leg_settings())
    CHECK(wrong_side(Profile{}, setting, Side::client).empty());
}
