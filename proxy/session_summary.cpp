// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/session_summary.hpp"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace headrace {
namespace {

std::string fixed(double value, int decimals) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string milliseconds(std::chrono::microseconds time) {
  return fixed(std::chrono::duration<double, std::milli>(time).count(), 1) + "ms";
}

std::string pair(std::uint64_t first, std::uint64_t second) {
  return std::to_string(first) + "/" + std::to_string(second);
}

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

nlohmann::ordered_json leg_json(const TcpInfo& info, const std::string& profile) {
  return {{"profile", profile},
          {"rtt_us", info.rtt.count()},
          {"min_rtt_us", info.min_rtt.count()},
          {"retransmits", info.retransmits}};
}

}  // namespace

std::optional<double> rounds_per_exchange(const SessionSummary& summary) {
  const Traffic& traffic = summary.traffic;
  if (traffic.timed_exchanges == 0 || summary.client.min_rtt < std::chrono::milliseconds{1})
    return std::nullopt;
  return seconds(traffic.answer_time) / static_cast<double>(traffic.timed_exchanges) /
         seconds(summary.client.min_rtt);
}

namespace {

std::string rounds_text(const SessionSummary& summary) {
  const auto rounds = rounds_per_exchange(summary);
  return rounds ? " rounds=" + fixed(*rounds, 2) : "";
}

}  // namespace

std::string print_text(const SessionSummary& summary) {
  std::string line = "session client=" + print(summary.flow.client.value) +
                     " server=" + print(summary.flow.destination.value) + " policy=" + summary.policy +
                     " legs=" + summary.client_profile + "/" + summary.server_profile +
                     " bytes=" + pair(summary.traffic.to_server, summary.traffic.to_client) +
                     " exchanges=" + std::to_string(summary.traffic.exchanges) + rounds_text(summary) +
                     " client_rtt=" + milliseconds(summary.client.rtt) +
                     " server_rtt=" + milliseconds(summary.server.rtt) +
                     " retrans=" + pair(summary.client.retransmits, summary.server.retransmits);
  if (summary.other_port) line += " port=other";
  line += " closed=";
  line += info(summary.reason).name;
  return line + " took=" + fixed(seconds(summary.duration), 3) + "s";
}

std::string print_json(const SessionSummary& summary) {
  nlohmann::ordered_json json = {
      {"id", summary.id},
      {"client", print(summary.flow.client.value)},
      {"server", print(summary.flow.destination.value)},
      {"policy", summary.policy},
      {"bytes_to_server", summary.traffic.to_server},
      {"bytes_to_client", summary.traffic.to_client},
      {"exchanges", summary.traffic.exchanges},
      {"duration_s", seconds(summary.duration)},
      {"client_leg", leg_json(summary.client, summary.client_profile)},
      {"server_leg", leg_json(summary.server, summary.server_profile)},
      {"other_port", summary.other_port},
      {"closed", info(summary.reason).name},
  };
  if (const auto rounds = rounds_per_exchange(summary)) json["rounds"] = *rounds;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace headrace
