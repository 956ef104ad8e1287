// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "policy/units.hpp"

// Profile: how one leg is treated. A plain struct with the product's defaults; an empty optional is the
// word its row in policy/leg_setting names ("auto", "off", "preserve"). Keys, ranges, units, when and how
// each field reaches the kernel, and a sentence about each are in that table, not here.
namespace headrace {

enum class QuickAck : std::uint8_t { automatic, always, off };

// How long the end of a burst may wait for more of it: `automatic` never waits, it only joins what is
// already readable; `hold` waits up to `time`.
struct Cork {
  enum class Mode : std::uint8_t { automatic, hold, off };
  Mode mode = Mode::automatic;
  Duration time{0};
  auto operator<=>(const Cork&) const = default;
};

struct Mss {
  enum class Mode : std::uint8_t { automatic, fixed, mirror };
  Mode mode = Mode::automatic;
  std::uint32_t segment = 0;  // bytes of payload, when fixed
  auto operator<=>(const Mss&) const = default;
};

struct Segments {
  std::uint32_t count = 0;
  auto operator<=>(const Segments&) const = default;
};

struct Dscp {
  std::uint8_t code_point = 0;  // 0-63; IP_TOS carries it shifted left by two
  auto operator<=>(const Dscp&) const = default;
};

struct Mark {
  std::uint32_t value = 0;
  auto operator<=>(const Mark&) const = default;
};

struct CongestionControl {
  std::string name;
  auto operator<=>(const CongestionControl&) const = default;
};

struct Profile {
  bool nodelay = true;
  QuickAck quickack = QuickAck::automatic;
  Cork cork;

  Mss mss;
  std::optional<Bytes> receive_buffer;  // empty: kernel autotuning, which beats most fixed values
  std::optional<Bytes> send_buffer;
  std::optional<Bytes> window_clamp;

  std::optional<Segments> initial_window;
  std::optional<Segments> initial_receive_window;
  std::optional<CongestionControl> congestion;
  std::optional<BitRate> pace;
  std::optional<Bytes> burst;
  std::optional<Bytes> unsent_limit;

  std::optional<Duration> rto_min;
  std::optional<Duration> rto_max;
  std::optional<Duration> delayed_ack_max;
  std::optional<bool> timestamps;
  std::optional<bool> sack;

  bool keepalive = true;
  Duration keepalive_idle = std::chrono::seconds{60};
  Duration keepalive_interval = std::chrono::seconds{10};
  std::uint32_t keepalive_count = 6;
  std::optional<Duration> user_timeout;

  std::optional<Dscp> dscp;
  bool thin_stream = false;
  bool fast_open = false;
  std::optional<Mark> mark;

  bool operator==(const Profile&) const = default;
};

}  // namespace headrace
