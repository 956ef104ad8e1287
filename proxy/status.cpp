// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/status.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace headrace {
namespace {

using nlohmann::ordered_json;

ordered_json counters_json(const Counters::Snapshot& counters) {
  ordered_json closed = ordered_json::object();
  for (const CloseReasonInfo& info : kCloseReasons) {
    const auto count = counters.closed[static_cast<std::size_t>(info.reason)];
    if (count > 0) closed[std::string{info.name}] = count;
  }
  return {{"accepted", counters.accepted},
          {"bytes_to_server", counters.to_server},
          {"bytes_to_client", counters.to_client},
          {"exchanges", counters.exchanges},
          {"other_port", counters.other_port},
          {"refused_direct", counters.refused_direct},
          {"refused_limit", counters.refused_limit},
          {"shed", counters.shed},
          {"failed_calls", counters.failed_calls},
          {"left_direct", counters.left_direct},
          {"closed", closed}};
}

ordered_json syns_json(const Status& status) {
  ordered_json json = {{"held", status.held_syns}, {"waiting", status.waiting_legs}};
  for (std::size_t i = 0; i < kSynOutcomes.size(); ++i) json[std::string{kSynOutcomes[i]}] = status.syns[i];
  return json;
}

}  // namespace

std::string render_status(const Status& status) {
  ordered_json classes = ordered_json::array();
  for (const auto& [key, port] : status.ports_by_key) classes.push_back({{"key", key}, {"port", port}});
  const ordered_json json = {{"ok", true},
                             {"pid", status.pid},
                             {"sessions", status.live},
                             {"held_bytes", status.held_bytes},
                             {"policies", status.policies},
                             {"classes", classes},
                             {"intercepting", status.intercepting},
                             {"takes_new_flows", status.takes_new_flows},
                             {"bypass", status.bypass},
                             {"overload", status.overload},
                             {"draining", status.draining},
                             {"accepted_since_rules", status.accepted_since_rules},
                             {"failed_servers", status.failed_servers},
                             {"syns_to_failed", status.syns_to_failed},
                             {"syns", syns_json(status)},
                             {"counters", counters_json(status.counters)}};
  return json.dump();
}

DaemonFacts read_status(const std::string& answer) {
  const auto json = nlohmann::json::parse(answer, nullptr, false);
  if (!json.is_object()) throw std::runtime_error{"the daemon's status: not a JSON object"};
  DaemonFacts facts;
  facts.takes_new_flows = json.value("takes_new_flows", false);
  if (const auto count = json.find("accepted_since_rules"); count != json.end())
    facts.accepted_since_rules = count->get<std::uint64_t>();
  return facts;
}

std::string render_reloaded(const std::vector<Problem>& warnings) {
  ordered_json texts = ordered_json::array();
  for (const Problem& warning : warnings) texts.push_back(print(warning));
  return ordered_json{{"ok", true}, {"warnings", texts}}.dump(-1, ' ', false,
                                                              ordered_json::error_handler_t::replace);
}

std::string render_done() { return ordered_json{{"ok", true}}.dump(); }

}  // namespace headrace
