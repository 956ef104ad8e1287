// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/leg_check.hpp"

#include <algorithm>

namespace headrace {
namespace {

std::string print(KernelVersion version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor);
}

std::string congestion_missing(const CongestionControl& wanted, const Environment& environment) {
  const auto& available = environment.congestion_controls;
  if (available.empty() || std::find(available.begin(), available.end(), wanted.name) != available.end())
    return {};
  std::string list;
  for (const std::string& name : available) list += (list.empty() ? "" : ", ") + name;
  return "the kernel has not loaded it (" + list + "; or load it first: modprobe tcp_" + wanted.name + ")";
}

std::string must_be_on(const std::optional<bool>& sysctl, const std::string& name, const std::string& key) {
  if (sysctl.value_or(true)) return {};
  return "net.ipv4." + name + " is 0 in this namespace, nobody offers it (kernel." + key + " = true)";
}

void advise_buffer(const Source& source, Place place, std::string_view key, const std::optional<Bytes>& size,
                   const std::optional<Bytes>& limit) {
  if (!size || !limit || *size <= *limit) return;
  source.warn(place, std::string{key} + ": " + headrace::print(*size) + " is cut to net.core's limit of " +
                         headrace::print(*limit) +
                         ", and autotuning is off (\"auto\", or raise the limit in [kernel])");
}

}  // namespace

std::string why_not(const Profile& profile, const LegSetting& setting, const LegLimits& limits) {
  if (is_kernel_default(profile, setting)) return {};
  const auto* stored = std::get_if<InStorage>(&setting.how);
  if (stored != nullptr && !limits.environment.no_leg_storage.empty())
    return limits.environment.no_leg_storage + "; without it " + std::string{stored->loss};
  const KernelVersion running = limits.environment.kernel;
  if (running < setting.since && running.major != 0) {
    return "needs Linux " + print(setting.since) + ", this is " + print(running);
  }
  if (setting.key == "congestion" && profile.congestion) {
    return congestion_missing(*profile.congestion, limits.environment);
  }
  if (setting.key == "timestamps" && profile.timestamps.value_or(false))
    return must_be_on(limits.environment.timestamps, "tcp_timestamps", "timestamps");
  if (setting.key == "sack" && profile.sack.value_or(false))
    return must_be_on(limits.environment.sack, "tcp_sack", "sack");
  if (setting.key == "mark" && profile.mark && (profile.mark->value & limits.reserved_mask) != 0) {
    return "it touches the mask of intercept.mark, which is headrace's own (bits outside of it)";
  }
  return {};
}

void advise(const Source& source, Place place, const Profile& profile, const Environment& environment) {
  if (profile.burst && !profile.pace)
    source.warn(place, "burst: without a pace nothing holds back what follows (pace = \"2mbit\")");
  advise_buffer(source, place, "receive_buffer", profile.receive_buffer, environment.receive_limit);
  advise_buffer(source, place, "send_buffer", profile.send_buffer, environment.send_limit);
  const Duration probing = profile.keepalive_idle +
                           profile.keepalive_interval * static_cast<Duration::rep>(profile.keepalive_count);
  if (profile.keepalive && profile.user_timeout && *profile.user_timeout < probing) {
    source.warn(place, "user_timeout: " + headrace::print(*profile.user_timeout) +
                           " is shorter than keepalive takes to find a dead peer (" +
                           headrace::print(probing) +
                           "): it decides, and it also ends a paused reader whose window is closed");
  }
}

}  // namespace headrace
