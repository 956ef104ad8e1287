// SPDX-License-Identifier: GPL-3.0-or-later
// The values of leg settings as text and back. One overload of read, show and accept for each type of field;
// which field and which range come from the row.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "policy/leg_setting.hpp"

namespace headrace {
namespace {

using Wrong = std::optional<std::string>;  // why a value was refused, without what is accepted

struct NamedCodePoint {
  std::string_view name;
  std::uint8_t code_point;
};
constexpr std::array<NamedCodePoint, 23> kCodePoints{
    {{"cs0", 0},   {"cs1", 8},   {"cs2", 16},  {"cs3", 24},  {"cs4", 32},  {"cs5", 40},
     {"cs6", 48},  {"cs7", 56},  {"af11", 10}, {"af12", 12}, {"af13", 14}, {"af21", 18},
     {"af22", 20}, {"af23", 22}, {"af31", 26}, {"af32", 28}, {"af33", 30}, {"af41", 34},
     {"af42", 36}, {"af43", 38}, {"ef", 46},   {"le", 1},    {"va", 44}}};

std::string quoted(std::string_view text) { return "\"" + std::string{text.substr(0, 80)} + "\""; }

std::string show_raw(const RawValue& raw) {
  if (const auto* flag = std::get_if<bool>(&raw)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&raw)) return std::to_string(*number);
  return quoted(std::get<std::string>(raw));
}

bool is_word(const RawValue& raw, std::string_view word) {
  const auto* text = std::get_if<std::string>(&raw);
  return text != nullptr && *text == word;
}

bool within(std::uint64_t value, const Range& range) { return range.low <= value && value <= range.high; }

Wrong unexpected(const RawValue& raw) { return show_raw(raw) + " is not accepted"; }
Wrong out_of_range(const RawValue& raw) { return show_raw(raw) + " is out of range"; }

// The text of a quantity that must carry a unit.
std::optional<std::string> quantity(const RawValue& raw, Wrong& wrong) {
  if (const auto* text = std::get_if<std::string>(&raw)) return *text;
  wrong = std::holds_alternative<std::int64_t>(raw) ? show_raw(raw) + " has no unit" : *unexpected(raw);
  return std::nullopt;
}

// The complaint of a parser without the accepted forms that it names: the row's own follow.
std::string without_brackets(const std::string& complaint) {
  return complaint.substr(0, complaint.rfind(" ("));
}

template <class T>
Wrong read_quantity(const RawValue& raw, const Range& range, T& into, Parsed<T> (*parse)(std::string_view),
                    std::uint64_t (*count)(const T&)) {
  Wrong wrong;
  const auto text = quantity(raw, wrong);
  if (!text) return wrong;
  const auto parsed = parse(*text);
  if (!parsed) return without_brackets(parsed.complaint());
  if (!within(count(*parsed), range)) return out_of_range(raw);
  into = *parsed;
  return std::nullopt;
}

Wrong read_number(const RawValue& raw, const Range& range, std::uint32_t& into) {
  const auto* number = std::get_if<std::int64_t>(&raw);
  if (number == nullptr) return unexpected(raw);
  if (*number < 0 || !within(static_cast<std::uint64_t>(*number), range)) return out_of_range(raw);
  into = static_cast<std::uint32_t>(*number);
  return std::nullopt;
}

Wrong read(const RawValue& raw, const Range&, bool& into) {
  const auto* flag = std::get_if<bool>(&raw);
  if (flag == nullptr) return unexpected(raw);
  into = *flag;
  return std::nullopt;
}

Wrong read(const RawValue& raw, const Range& range, std::uint32_t& into) {
  return read_number(raw, range, into);
}

Wrong read(const RawValue& raw, const Range& range, Bytes& into) {
  return read_quantity<Bytes>(raw, range, into, parse_bytes, [](const Bytes& v) { return v.count; });
}

Wrong read(const RawValue& raw, const Range& range, BitRate& into) {
  return read_quantity<BitRate>(raw, range, into, parse_bit_rate,
                                [](const BitRate& v) { return v.bits_per_second; });
}

Wrong read(const RawValue& raw, const Range& range, Duration& into) {
  return read_quantity<Duration>(raw, range, into, parse_duration,
                                 [](const Duration& v) { return static_cast<std::uint64_t>(v.count()); });
}

Wrong read(const RawValue& raw, const Range&, QuickAck& into) {
  if (is_word(raw, "auto")) return into = QuickAck::automatic, std::nullopt;
  if (is_word(raw, "always")) return into = QuickAck::always, std::nullopt;
  if (is_word(raw, "off")) return into = QuickAck::off, std::nullopt;
  return unexpected(raw);
}

Wrong read(const RawValue& raw, const Range& range, Cork& into) {
  if (is_word(raw, "auto")) return into = Cork{}, std::nullopt;
  if (is_word(raw, "off")) return into = Cork{Cork::Mode::off, Duration{0}}, std::nullopt;
  Cork hold{Cork::Mode::hold, Duration{0}};
  if (auto wrong = read(raw, range, hold.time)) return wrong;
  into = hold;
  return std::nullopt;
}

Wrong read(const RawValue& raw, const Range& range, Mss& into) {
  if (is_word(raw, "auto")) return into = Mss{}, std::nullopt;
  if (is_word(raw, "mirror")) return into = Mss{Mss::Mode::mirror, 0}, std::nullopt;
  Mss fixed{Mss::Mode::fixed, 0};
  if (auto wrong = read_number(raw, range, fixed.segment)) return wrong;
  into = fixed;
  return std::nullopt;
}

Wrong read(const RawValue& raw, const Range& range, Segments& into) {
  return read_number(raw, range, into.count);
}

Wrong read(const RawValue& raw, const Range& range, Mark& into) {
  const auto* text = std::get_if<std::string>(&raw);
  if (text == nullptr) return read_number(raw, range, into.value);
  const auto number = parse_number(*text, range.low, range.high);
  if (!number) return without_brackets(number.complaint());
  into.value = static_cast<std::uint32_t>(*number);
  return std::nullopt;
}

Wrong read(const RawValue& raw, const Range& range, Dscp& into) {
  for (const auto& named : kCodePoints) {
    if (is_word(raw, named.name)) return into.code_point = named.code_point, std::nullopt;
  }
  std::uint32_t number = 0;
  if (auto wrong = read_number(raw, range, number)) return wrong;
  into.code_point = static_cast<std::uint8_t>(number);
  return std::nullopt;
}

Wrong read(const RawValue& raw, const Range&, CongestionControl& into) {
  constexpr std::size_t kLongest = 15;  // TCP_CA_NAME_MAX with its NUL
  const auto* text = std::get_if<std::string>(&raw);
  const auto good = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_' || c == '-';
  };
  if (text == nullptr || text->empty()) return unexpected(raw);
  if (text->size() > kLongest || !std::all_of(text->begin(), text->end(), good)) return unexpected(raw);
  into.name = *text;
  return std::nullopt;
}

template <class T>
Wrong read(const RawValue& raw, const Range& range, std::optional<T>& into) {
  T value{};
  if (auto wrong = read(raw, range, value)) return wrong;
  into = std::move(value);
  return std::nullopt;
}

std::string show(bool value) { return value ? "true" : "false"; }
std::string show(std::uint32_t value) { return std::to_string(value); }
std::string show(Bytes value) { return quoted(print(value)); }
std::string show(BitRate value) { return quoted(print(value)); }
std::string show(Duration value) { return quoted(print(value)); }
std::string show(Segments value) { return std::to_string(value.count); }
std::string show(const CongestionControl& value) { return quoted(value.name); }

std::string show(QuickAck value) {
  return value == QuickAck::automatic ? R"("auto")" : value == QuickAck::always ? R"("always")" : R"("off")";
}

std::string show(const Cork& value) {
  if (value.mode == Cork::Mode::hold) return show(value.time);
  return value.mode == Cork::Mode::automatic ? R"("auto")" : R"("off")";
}

std::string show(const Mss& value) {
  if (value.mode == Mss::Mode::fixed) return std::to_string(value.segment);
  return value.mode == Mss::Mode::automatic ? R"("auto")" : R"("mirror")";
}

std::string show(Dscp value) {
  for (const auto& named : kCodePoints) {
    if (named.code_point == value.code_point) return quoted(named.name);
  }
  return std::to_string(value.code_point);
}

std::string show(Mark value) {
  std::array<char, 8> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value.value, 16).ptr;
  return "0x" + std::string{digits.data(), end};
}

template <class T>
std::string between(const Range& range, T (*make)(std::uint64_t)) {
  if (range.high == UINT64_MAX) return "at least " + show(make(range.low));
  return show(make(range.low)) + " to " + show(make(range.high));
}

Bytes to_bytes(std::uint64_t count) { return Bytes{count}; }
BitRate to_rate(std::uint64_t count) { return BitRate{count}; }
Duration to_duration(std::uint64_t count) { return Duration{static_cast<Duration::rep>(count)}; }
std::string plain(const Range& range) { return std::to_string(range.low) + "-" + std::to_string(range.high); }

std::string accept(const Range&, const bool*) { return "true, false"; }
std::string accept(const Range& range, const std::uint32_t*) { return plain(range); }
std::string accept(const Range& range, const Segments*) { return plain(range) + " segments"; }
std::string accept(const Range& range, const Bytes*) { return "a size " + between(range, to_bytes); }
std::string accept(const Range& range, const BitRate*) { return "a rate " + between(range, to_rate); }
std::string accept(const Range& range, const Duration*) {
  return "a duration " + between(range, to_duration);
}
std::string accept(const Range&, const QuickAck*) { return R"("auto", "always" or "off")"; }
std::string accept(const Range& range, const Mss*) { return R"("auto", "mirror" or )" + plain(range); }
std::string accept(const Range& range, const Dscp*) {
  return plain(range) + R"( or a name like "ef", "af41", "cs1")";
}
std::string accept(const Range&, const Mark*) { return R"(a number like 0x100)"; }
std::string accept(const Range&, const CongestionControl*) { return R"(a name like "cubic")"; }
std::string accept(const Range& range, const Cork*) {
  return R"("auto", "off" or a duration )" + between(range, to_duration);
}

template <class T>
std::string accept(const Range& range, const std::optional<T>*) {
  return accept(range, static_cast<const T*>(nullptr));
}

template <class T>
Wrong read_or_absent(const LegSetting&, const RawValue& raw, const Range& range, T& into) {
  return read(raw, range, into);
}

template <class T>
Wrong read_or_absent(const LegSetting& setting, const RawValue& raw, const Range& range,
                     std::optional<T>& into) {
  if (is_word(raw, setting.absent)) return into = std::nullopt, std::nullopt;
  return read(raw, range, into);
}

template <class T>
std::string show_or_absent(const LegSetting&, const T& value) {
  return show(value);
}

template <class T>
std::string show_or_absent(const LegSetting& setting, const std::optional<T>& value) {
  return value ? show(*value) : quoted(setting.absent);
}

template <class T>
const T* type_of(T Profile::*) {
  return nullptr;
}

}  // namespace

Parsed<std::monostate> assign(Profile& profile, const LegSetting& setting, const RawValue& value) {
  const auto wrong =
      std::visit([&](auto field) { return read_or_absent(setting, value, setting.range, profile.*field); },
                 setting.field);
  if (wrong) return Complaint{*wrong + " (" + accepted(setting) + ")"};
  return std::monostate{};
}

std::string print_value(const Profile& profile, const LegSetting& setting) {
  return std::visit([&](auto field) { return show_or_absent(setting, profile.*field); }, setting.field);
}

std::string accepted(const LegSetting& setting) {
  const auto values =
      std::visit([&](auto field) { return accept(setting.range, type_of(field)); }, setting.field);
  return setting.absent.empty() ? values : quoted(setting.absent) + " or " + values;
}

void reset(Profile& profile, const LegSetting& setting) {
  static const Profile kFresh;
  std::visit([&](auto field) { profile.*field = kFresh.*field; }, setting.field);
}

}  // namespace headrace
