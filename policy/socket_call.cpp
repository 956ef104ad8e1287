// SPDX-License-Identifier: GPL-3.0-or-later
// From a profile's values to the setsockopt calls that put them in force.
#include <chrono>

#include "policy/leg_setting.hpp"

namespace headrace {
namespace {

bool left_alone(bool value) { return !value; }
bool left_alone(QuickAck value) { return value == QuickAck::off; }
bool left_alone(const Cork& value) { return value.mode == Cork::Mode::off; }
bool left_alone(const Mss& value) { return value.mode == Mss::Mode::automatic; }
// What the kernel would do is a sysctl's value, unknown here, so these are always said.
bool left_alone(Duration) { return false; }
bool left_alone(std::uint32_t) { return false; }
template <class T>
bool left_alone(const std::optional<T>& value) {
  return !value;
}

std::int64_t encode_duration(Duration value, Encoding encoding) {
  using namespace std::chrono;
  // Rounded up: a limit of 1.5 s that is set as 1 s would act before its time.
  if (encoding == Encoding::seconds) return ceil<seconds>(value).count();
  if (encoding == Encoding::milliseconds) return ceil<milliseconds>(value).count();
  return value.count();
}

using CallValue = std::variant<int, std::string>;

CallValue as_int(std::uint64_t value) { return static_cast<int>(value); }

CallValue encode(bool value, const SocketOption& option) { return value ? option.when_true : 0; }
CallValue encode(std::uint32_t value, const SocketOption&) { return as_int(value); }
CallValue encode(Bytes value, const SocketOption&) { return as_int(value.count); }
CallValue encode(BitRate value, const SocketOption&) { return as_int(value.bits_per_second); }
CallValue encode(Segments value, const SocketOption&) { return as_int(value.count); }
CallValue encode(Mark value, const SocketOption&) { return as_int(value.value); }
CallValue encode(const Mss& value, const SocketOption&) { return as_int(value.segment); }
CallValue encode(const CongestionControl& value, const SocketOption&) { return value.name; }
CallValue encode(QuickAck value, const SocketOption&) { return value == QuickAck::off ? 0 : 1; }
CallValue encode(const Cork& value, const SocketOption&) { return value.mode == Cork::Mode::off ? 0 : 1; }
CallValue encode(Dscp value, const SocketOption& option) {
  // The two lower bits of the byte are ECN's and stay zero.
  return option.encoding == Encoding::dscp ? value.code_point << 2 : value.code_point;
}
CallValue encode(Duration value, const SocketOption& option) {
  return as_int(static_cast<std::uint64_t>(encode_duration(value, option.encoding)));
}
template <class T>
CallValue encode(const std::optional<T>& value, const SocketOption& option) {
  return encode(value.value_or(T{}), option);
}

// The option of a row on one side's leg, or nullptr where it makes no call.
const SocketOption* option_of(const LegSetting& setting, Side side) {
  const SocketOption* option = std::get_if<SocketOption>(&setting.how);
  if (const auto* sides = std::get_if<PerSide>(&setting.how)) {
    option = side == Side::client ? &sides->client : &sides->server;
  }
  return option == nullptr || option->label.empty() ? nullptr : option;
}

SocketCall make_call(const Profile& profile, const LegSetting& setting, const SocketOption& option,
                     Family family) {
  const bool own6 = family == Family::ipv6 && !option.label6.empty();
  return {own6 ? option.level6 : option.level, own6 ? option.name6 : option.name,
          own6 ? option.label6 : option.label,
          std::visit([&](auto field) { return encode(profile.*field, option); }, setting.field), setting.key};
}

bool is_mirror(const Mss& value) { return value.mode == Mss::Mode::mirror; }
template <class T>
bool is_mirror(const T&) {
  return false;
}

}  // namespace

bool is_kernel_default(const Profile& profile, const LegSetting& setting) {
  if (setting.only_with != nullptr && !(profile.*setting.only_with)) return true;
  return std::visit([&](auto field) { return left_alone(profile.*field); }, setting.field);
}

std::string_view wrong_side(const Profile& profile, const LegSetting& setting, Side side) {
  if (side == Side::server || is_kernel_default(profile, setting)) return {};
  if (std::visit([&](auto field) { return is_mirror(profile.*field); }, setting.field))
    return "\"mirror\" is for the server leg: the client's SYN-ACK leaves before the server's is known "
           "(where "
           "that waits, with accept = \"verified\", it takes intercept.firewall = \"nft\" and connect_as = "
           "\"client\")";
  return {};
}

std::vector<SocketCall> socket_calls(const Profile& profile, Side side, Phase phase, Family family) {
  std::vector<SocketCall> calls;
  for (const LegSetting& setting : leg_settings()) {
    const SocketOption* option = option_of(setting, side);
    if (setting.phase != phase || option == nullptr || is_kernel_default(profile, setting)) continue;
    // Announced per connection, as the client's SYN says (proxy/socket).
    if (std::visit([&](auto field) { return is_mirror(profile.*field); }, setting.field)) continue;
    calls.push_back(make_call(profile, setting, *option, family));
  }
  return calls;
}

std::string print(const SocketCall& call) {
  const auto* text = std::get_if<std::string>(&call.value);
  const std::string value = text != nullptr ? "\"" + *text + "\"" : std::to_string(std::get<int>(call.value));
  return "setsockopt(" + std::string{call.label} + ", " + value + ")";
}

}  // namespace headrace
