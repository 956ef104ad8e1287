// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "policy/address.hpp"
#include "policy/profile.hpp"

// The table of leg settings: one row a key of a profile. Parsing, check, explain, applying, listener
// classes, the reference text and the tests read it; adding a setting is one row (and its test).
// Pure: option numbers are named here, set in proxy/socket.
namespace headrace {

enum class Side : std::uint8_t { client, server };  // of a session: the client leg or the server leg

// When a setting must be in force.
enum class Phase : std::uint8_t {
  handshake,   // before the SYN-ACK: on the listener of the client leg, before connect on the server leg
  connection,  // after accept on the client leg, before connect on the server leg
  each_read,   // the relay sets it again after reads
  relay,       // not an option: how the relay itself behaves
};

// How the field's value is turned into the option's int (or string).
enum class Encoding : std::uint8_t {
  flag,     // 0 or 1
  number,   // bytes, segments, counts, marks as they are
  text,     // the bytes of a string
  seconds,  // durations; what would be rounded to 0 is refused by the row's range
  milliseconds,
  microseconds,
  dscp,  // code point << 2
};

struct SocketOption {
  int level = 0;
  int name = 0;
  std::string_view label;  // "TCP_MAXSEG"
  Encoding encoding = Encoding::number;
  int when_true = 1;  // what a flag sets: TCP_FASTOPEN on a listener takes the length of a queue
  // Where IPv6 has an option of its own (IPV6_TCLASS); empty label: the same for both.
  int level6 = 0;
  int name6 = 0;
  std::string_view label6 = {};
};

// A setting that is another option, or none, on the other side's leg (an empty label makes no call).
struct PerSide {
  SocketOption client;
  SocketOption server;
};

struct InRelay {};  // read by proxy/pump through PumpSettings

// Written into the BPF storage of the leg's socket or listener (proxy/leg_storage), from where the kernel
// takes it during the handshake. `loss` says what is lost where there is no BPF.
struct InStorage {
  std::string_view loss;
};

// Offered by the kernel unless the packet filter takes it out of this leg's SYN (deploy/).
struct Stripped {
  std::string_view option;  // as nft names it: `reset tcp option NAME`
};

using Mechanism = std::variant<SocketOption, PerSide, InRelay, InStorage, Stripped>;

struct KernelVersion {
  unsigned major = 0;
  unsigned minor = 0;
  auto operator<=>(const KernelVersion&) const = default;
};

using Field =
    std::variant<bool Profile::*, QuickAck Profile::*, Cork Profile::*, Mss Profile::*, Duration Profile::*,
                 std::uint32_t Profile::*, std::optional<bool> Profile::*, std::optional<Bytes> Profile::*,
                 std::optional<BitRate> Profile::*, std::optional<Duration> Profile::*,
                 std::optional<Segments> Profile::*, std::optional<Dscp> Profile::*,
                 std::optional<Mark> Profile::*, std::optional<CongestionControl> Profile::*>;

struct Range {
  std::uint64_t low = 0;
  std::uint64_t high = UINT64_MAX;  // both in the field's own unit: bytes, segments, microseconds, count
};

struct LegSetting {
  std::string_view key;
  Field field;
  std::string_view absent;  // the word for "left alone": "auto", "off", "preserve"; empty when there is none
  Range range;
  Phase phase;
  Mechanism how;
  KernelVersion since;
  std::string_view says;               // one sentence for people
  bool Profile::*only_with = nullptr;  // makes no call while this other field is false
};

std::span<const LegSetting> leg_settings();
const LegSetting* find_leg_setting(std::string_view key);

// What a configuration file can hold for a key, without TOML's types.
using RawValue = std::variant<bool, std::int64_t, std::string>;

// Sets the row's field of `profile` from `value`, or says what is wrong and what is accepted.
Parsed<std::monostate> assign(Profile& profile, const LegSetting& setting, const RawValue& value);
// The value as a configuration file would write it: `"auto"`, `true`, `"64KiB"`, `1460`.
std::string print_value(const Profile& profile, const LegSetting& setting);
// What the key accepts, for messages and the reference: `true, false`, `"auto" or 88-32767`.
std::string accepted(const LegSetting& setting);
// True when the field holds the kernel's own behaviour, so that nothing needs to be done for it.
bool is_kernel_default(const Profile& profile, const LegSetting& setting);

// Why the value that the field holds can't be had on this side's leg, whatever the host; empty when it can.
std::string_view wrong_side(const Profile& profile, const LegSetting& setting, Side side);
// Puts the field back to what a Profile starts with.
void reset(Profile& profile, const LegSetting& setting);

// One setsockopt, ready to be made and to be shown.
struct SocketCall {
  int level = 0;
  int name = 0;
  std::string_view label;
  std::variant<int, std::string> value;
  std::string_view key;  // the setting it comes from
  bool operator==(const SocketCall&) const = default;
};

// The setsockopt calls of one phase of one side's leg, in table order; settings left to the kernel make none.
std::vector<SocketCall> socket_calls(const Profile& profile, Side side, Phase phase, Family family);
std::string print(const SocketCall& call);  // "setsockopt(TCP_MAXSEG, 1460)"

}  // namespace headrace
