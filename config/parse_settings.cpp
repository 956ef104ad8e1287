// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/parse_settings.hpp"

#include <algorithm>
#include <map>

#include "config/kernel_keys.hpp"
#include "config/parse_intercept.hpp"

namespace headrace {
namespace {

using namespace std::chrono_literals;

// What the packet queue takes (proxy/syn_queue) is more.
constexpr std::uint64_t kMostHeldSyns = 30'000;
constexpr std::string_view kDurationAccepted = R"(a duration with a unit, like "40ms")";

Parsed<Duration> parse_positive(std::string_view text) {
  const auto duration = parse_duration(text);
  if (duration && *duration == 0us)
    return Complaint{"\"" + std::string{text} + "\" is no time at all (write \"off\")"};
  return duration;
}

// Shorter, and a client that tries again after a human's moment finds nothing; longer, and a server that is
// back goes without headrace for a time that people notice.
constexpr Duration kShortestFailed = 100ms;
constexpr Duration kLongestFailed = 10min;

Parsed<Duration> parse_failed_server(std::string_view text) {
  const auto duration = parse_duration(text);
  if (duration && (*duration < kShortestFailed || *duration > kLongestFailed))
    return Complaint{"\"" + std::string{text} + "\" is not accepted (\"off\" or \"100ms\" to \"10m\")"};
  return duration;
}

void parse_limits(const Source& source, const TomlTable& table, LimitSettings& into) {
  TableReader reader{source, table, "limits."};
  const auto is_text = [](const TomlNode* node, std::string_view word) {
    const auto* text = std::get_if<std::string>(&node->value);
    return text != nullptr && *text == word;
  };
  if (const TomlNode* node = reader.take("sessions"); node != nullptr && !is_text(node, "auto")) {
    const auto* number = std::get_if<std::int64_t>(&node->value);
    if (number != nullptr && *number >= 1) {
      into.sessions = static_cast<std::size_t>(*number);
    } else {
      reader.refuse(*node, "sessions", R"("auto" or a number from 1)");
    }
  }
  if (const TomlNode* node = reader.take("sessions_per_client")) {
    const auto* number = std::get_if<std::int64_t>(&node->value);
    const auto* text = std::get_if<std::string>(&node->value);
    const bool percent = text != nullptr && text->ends_with('%');
    const auto share = parse_number(percent ? text->substr(0, text->size() - 1) : "", 1, 100);
    if (number != nullptr && *number >= 1) {
      into.sessions_per_client = {false, 0, static_cast<std::size_t>(*number)};
    } else if (share) {
      into.sessions_per_client = {true, static_cast<double>(*share) / 100, 0};
    } else {
      reader.refuse(*node, "sessions_per_client", R"(a share "1%"-"100%" or a number from 1)");
    }
  }
  reader.choice("overload", {{"bypass", Overload::bypass}, {"refuse", Overload::refuse}}, into.overload);
  reader.number("held_syns", 1, kMostHeldSyns, [&](std::uint64_t number) { into.held_syns = number; });
  reader.number("held_syns_per_client", 1, kMostHeldSyns,
                [&](std::uint64_t number) { into.held_syns_per_client = number; });
  reader.parsed_or("memory", "auto", parse_bytes, into.memory,
                   R"("auto" or a size with a unit, like "512MiB")");
}

void parse_timeouts(const Source& source, const TomlTable& table, TimeoutSettings& into) {
  TableReader reader{source, table, "timeouts."};
  const std::string auto_or = "\"auto\" or " + std::string{kDurationAccepted};
  const std::string off_or = "\"off\" or " + std::string{kDurationAccepted};
  reader.parsed_or("connect", "auto", parse_positive, into.connect, auto_or);
  reader.parsed_or("idle", "off", parse_positive, into.idle, off_or);
  reader.parsed_or("half_closed", "off", parse_positive, into.half_closed, off_or);
  reader.parsed_or("drain", "off", parse_positive, into.drain, off_or);
  reader.parsed_or("failed_server", "off", parse_failed_server, into.failed_server, off_or);
}

// sockaddr_un holds 108 bytes with the NUL.
Parsed<std::string> parse_socket_path(std::string_view text) {
  if (text.size() > 107) {
    return Complaint{"\"" + std::string{text.substr(0, 80)} +
                     "...\" is not accepted (an absolute path of at most 107 bytes)"};
  }
  return parse_absolute_path(text);
}

void parse_admin(const Source& source, const TomlTable& table, AdminSettings& into) {
  TableReader reader{source, table, "admin."};
  reader.parsed("socket", parse_socket_path, into.socket, "an absolute path");
  reader.parsed("state_directory", parse_absolute_path, into.state_directory, "an absolute path");
  if (const TomlNode* metrics = reader.take("metrics")) {
    const auto* word = std::get_if<std::string>(&metrics->value);
    if (word == nullptr || *word != "off")
      reader.error(*metrics, "metrics", R"(this build serves no metrics ("off"))");
  }
}

void parse_log(const Source& source, const TomlTable& table, LogSettings& into) {
  TableReader reader{source, table, "log."};
  reader.choice("level",
                {{"trace", LogLevel::trace},
                 {"debug", LogLevel::debug},
                 {"info", LogLevel::info},
                 {"warning", LogLevel::warning},
                 {"error", LogLevel::error},
                 {"off", LogLevel::off}},
                into.level);
  reader.choice("format", {{"text", LogFormat::text}, {"json", LogFormat::json}}, into.format);
  reader.flag("sessions", into.sessions);
}

void parse_policy_files(TableReader& reader, SettingsDraft& draft) {
  constexpr std::string_view kAccepted = R"(a pattern like "policies.d/*.toml" or an array of them)";
  const TomlNode* node = reader.take("policy_files");
  if (node == nullptr) return;
  draft.wrote_policy_files = true;
  draft.policy_files.clear();
  for (const TomlNode* item : list_items(*node)) {
    const auto* text = std::get_if<std::string>(&item->value);
    if (text == nullptr || text->empty() || text->find('\0') != text->npos) {
      reader.refuse(*item, "policy_files", kAccepted);
    } else {
      draft.policy_files.push_back({*text, item->place});
    }
  }
}

void parse_forward(const Source& source, const TomlNode& node, std::vector<ForwardDraft>& forwards) {
  const std::size_t before = source.errors();
  TableReader reader{source, std::get<TomlTable>(node.value), "forward."};
  ForwardDraft draft;
  draft.settings.where = source.at(node.place);
  const TomlNode* listen = reader.take("listen");
  const TomlNode* to = reader.take("to");
  constexpr std::string_view kAccepted = R"(an endpoint like "198.18.9.5:1521")";
  if (listen == nullptr)
    source.error(node.place, "forward: no listen (where it listens, like \"127.0.0.1:1522\")");
  if (to == nullptr) source.error(node.place, "forward: no to (where it connects, like \"198.18.9.5:1521\")");
  reader.parsed("listen", parse_endpoint, draft.settings.listen, kAccepted);
  reader.parsed("to", parse_endpoint, draft.settings.to, kAccepted);
  draft.client_leg = reader.take("client_leg");
  draft.server_leg = reader.take("server_leg");
  draft.app = parse_app(reader);
  if (source.errors() != before) return;
  if (draft.settings.listen == draft.settings.to) {
    reader.error(*to, "to",
                 print(draft.settings.to) + " is where the forwarder itself listens (another endpoint)");
  }
  for (const ForwardDraft& other : forwards) {
    if (other.settings.listen != draft.settings.listen) continue;
    reader.error(*listen, "listen",
                 print(draft.settings.listen) + " is taken by another forwarder (" +
                     brief(other.settings.where) + ")");
  }
  forwards.push_back(std::move(draft));
}

// iptables has no sets that a process can write to.
void leave_to_nft(const Source& source, const TomlTable& root, Settings& settings) {
  settings.timeouts.failed_server.reset();
  for (const TomlEntry& section : root) {
    const auto* timeouts = std::get_if<TomlTable>(&section.node.value);
    if (section.key != "timeouts" || timeouts == nullptr) continue;
    for (const TomlEntry& entry : *timeouts) {
      const auto* text = std::get_if<std::string>(&entry.node.value);
      if (entry.key == "failed_server" && (text == nullptr || *text != "off"))
        source.error(entry.node.place, R"(timeouts.failed_server: needs intercept.firewall = "nft" ("off"))");
    }
  }
}

template <class Settings>
void section(TableReader& reader, const Source& source, std::string_view key,
             void (*parse)(const Source&, const TomlTable&, Settings&), Settings& into) {
  if (const TomlTable* table = reader.take_table(key)) parse(source, *table, into);
}

}  // namespace

Decision decision_of(const ForwardSettings& forward) {
  Decision decision;
  decision.policy = "forward:" + print(forward.listen);
  decision.connect_as = ConnectAs::proxy;
  decision.client_leg = forward.client_leg;
  decision.server_leg = forward.server_leg;
  decision.data = forward.data;
  return decision;
}

SettingsDraft parse_settings(const Source& source, const TomlTable& root) {
  SettingsDraft draft;
  draft.policy_files = {{"policies.d/*.toml", {}}};
  Settings& settings = draft.settings;
  TableReader reader{source, root, ""};
  parse_policy_files(reader, draft);
  const TomlNode* workers = reader.take("workers");
  const auto* word = workers == nullptr ? nullptr : std::get_if<std::string>(&workers->value);
  if (workers != nullptr && (word == nullptr || *word != "auto")) {
    const auto* number = std::get_if<std::int64_t>(&workers->value);
    if (number != nullptr && 1 <= *number && *number <= 1024) {
      settings.workers = static_cast<unsigned>(*number);
    } else {
      reader.refuse(*workers, "workers", R"("auto" or 1-1024)");
    }
  }
  reader.parsed_or("busy_poll", "off", parse_positive, settings.busy_poll,
                   "\"off\" or a duration, like \"50us\"");
  section(reader, source, "intercept", parse_intercept, settings.intercept);
  section(reader, source, "limits", parse_limits, settings.limits);
  section(reader, source, "timeouts", parse_timeouts, settings.timeouts);
  section(reader, source, "admin", parse_admin, settings.admin);
  section(reader, source, "log", parse_log, settings.log);
  section(reader, source, "kernel", parse_kernel, settings.kernel);
  if (settings.intercept.firewall == Firewall::iptables) leave_to_nft(source, root, settings);
  for (const TomlNode* node : reader.take_tables("forward")) parse_forward(source, *node, draft.forwards);
  for (const auto* key : {"policy", "profile", "group"}) {
    const TomlEntry* entry = reader.take_entry(key);
    if (entry != nullptr)
      source.error(entry->place, std::string{key} + ": belongs into a policy file, not here");
  }
  return draft;
}

}  // namespace headrace
