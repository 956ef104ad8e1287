// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>
#include <nlohmann/json.hpp>

#include "config/load.hpp"
#include "policy/listener_class.hpp"
#include "proxy/commands/commands.hpp"
#include "proxy/listener.hpp"
#include "proxy/socket.hpp"

namespace headrace {
namespace {

using nlohmann::ordered_json;

// Calls and remarks of one leg, in the order in which they happen.
struct LegStory {
  std::string title;
  std::string profile;
  std::vector<std::string> steps;
};

void add_calls(std::vector<std::string>& steps, const std::vector<SocketCall>& calls) {
  for (const SocketCall& call : calls)
    steps.push_back(print(call) + (call.key.empty() ? "" : "   # " + std::string{call.key}));
}

std::string client_endpoint(const Flow& flow) {
  const Endpoint& client = flow.client.value;
  return client.port == 0 ? print(client.address) + ", its own port" : print(client);
}

// What the relay itself does for this leg: the rows of the table that are no socket option.
void add_relay_settings(std::vector<std::string>& steps, const Profile& profile) {
  for (const LegSetting& setting : leg_settings()) {
    if (std::holds_alternative<InRelay>(setting.how))
      steps.push_back(std::string{setting.key} + " = " + print_value(profile, setting) +
                      "   # in the relay: " + std::string{setting.says});
  }
}

// What others do for this leg before its handshake: the BPF program, the packet filter.
void add_outside_settings(std::vector<std::string>& steps, const Profile& profile) {
  for (const LegSetting& setting : leg_settings()) {
    if (is_kernel_default(profile, setting)) continue;
    const std::string value = std::string{setting.key} + " = " + print_value(profile, setting);
    if (std::holds_alternative<InStorage>(setting.how)) steps.push_back("BPF storage: " + value);
    if (std::holds_alternative<Stripped>(setting.how) && print_value(profile, setting) == "false")
      steps.push_back("packet filter: takes the option out of the SYN   # " + value);
  }
}

// What a segment size means on the wire; options such as timestamps (12 bytes) come out of the segment.
void add_wire_size(std::vector<std::string>& steps, const Profile& profile, Family family) {
  if (profile.mss.mode != Mss::Mode::fixed) return;
  const std::uint32_t headers = family == Family::ipv4 ? 40 : 60;
  steps.push_back("# mss = " + std::to_string(profile.mss.segment) + ": packets of at most " +
                  std::to_string(profile.mss.segment + headers) + " bytes of IP, " +
                  std::to_string(profile.mss.segment - 12) + " bytes of payload each with timestamps");
}

std::string client_title(ConnectAs connect_as) {
  return connect_as == ConnectAs::proxy ? "this host" : "the client";
}

LegStory client_story(const Flow& flow, const Decision& decision, const Settings& settings,
                      const std::string& key) {
  const Family family = flow.client.value.address.family();
  const bool tproxy = settings.intercept.mode == InterceptMode::tproxy;
  LegStory story{"client leg", decision.client_leg->profile, {}};
  if (decision.accept == Accept::verified)
    story.steps.push_back("# the SYN is held until the server has answered   # accept = \"verified\"");
  story.steps.push_back("# the listener of class \"" + key + "\"" + (tproxy ? ", on loopback" : ""));
  Endpoint at;
  if (family == Family::ipv6) at.address = IpAddress::v6({});
  add_calls(story.steps, listener_calls({at, tproxy, decision.client_leg}));
  add_outside_settings(story.steps, decision.client_leg->settings);
  if (decision.client_leg->settings.mss.mode == Mss::Mode::mirror)
    story.steps.push_back("packet filter: lowers the segment size in the SYN-ACK to the server's   # mss");
  add_wire_size(story.steps, decision.client_leg->settings, family);
  story.steps.push_back("accept()   # from " + client_endpoint(flow));
  add_calls(story.steps, client_leg_calls(*decision.client_leg, family));
  add_relay_settings(story.steps, decision.client_leg->settings);
  return story;
}

LegStory server_story(const Flow& flow, const Decision& decision, const Settings& settings) {
  const Profile& leg = decision.server_leg->settings;
  const ServerLegSpec spec =
      server_leg_spec(origin_of(settings.intercept.mode), settings.intercept.mark, flow, decision);
  const ConnectAs as = spec.as ? decision.connect_as : ConnectAs::proxy;
  LegStory story{"server leg", decision.server_leg->profile, {}};
  add_calls(story.steps, server_leg_calls(spec));
  if (!leg.dscp) story.steps.push_back("setsockopt(dscp of the client's SYN)   # dscp = \"preserve\"");
  if (leg.mss.mode == Mss::Mode::mirror)
    story.steps.push_back("setsockopt(TCP_MAXSEG, as in the client's SYN)   # mss");
  add_outside_settings(story.steps, leg);
  add_wire_size(story.steps, leg, flow.destination.value.address.family());
  if (as == ConnectAs::client)
    story.steps.push_back("bind(" + client_endpoint(flow) + ")   # connect_as = \"client\"");
  if (as == ConnectAs::client_address)
    story.steps.push_back("bind(" + print(flow.client.value.address) +
                          ", any port)   # connect_as = \"client-address\"");
  story.steps.push_back("connect(" + print(flow.destination.value) + ")   # as " + client_title(as));
  add_relay_settings(story.steps, leg);
  return story;
}

// Which leg crosses the bad path can't be measured here; the profiles say what the author takes it for.
std::string wan_leg(const Decision& decision) {
  const auto is_lan = [](const LegTreatment& leg) {
    return leg.profile.starts_with("lan") || leg.profile.starts_with("plain");
  };
  if (is_lan(*decision.server_leg) && !is_lan(*decision.client_leg))
    return "the client leg (its profile is \"" + decision.client_leg->profile + "\", the server's is \"" +
           decision.server_leg->profile + "\"): headrace sends the answers and decides how bursts leave";
  if (is_lan(*decision.client_leg) && !is_lan(*decision.server_leg))
    return "the server leg (its profile is \"" + decision.server_leg->profile +
           "\"): headrace can cure delayed ACKs, small windows and small MSS, but not how the far server "
           "sends its bursts";
  return "not clear from the profiles: both legs are treated alike";
}

void print_text(const LegStory& story) {
  std::printf("\n%s, profile %s:\n", story.title.c_str(), story.profile.c_str());
  for (const std::string& step : story.steps) std::printf("  %s\n", step.c_str());
}

ordered_json to_json(const LegStory& story) { return {{"profile", story.profile}, {"steps", story.steps}}; }

int nothing_matches(const Flow& flow, bool json) {
  if (json) {
    std::printf("%s\n", ordered_json{{"policy", nullptr}, {"action", "bypass"}}.dump(2).c_str());
  } else {
    std::printf("no policy covers %s -> %s: the kernel forwards it\n", print(flow.client.value).c_str(),
                print(flow.destination.value).c_str());
  }
  return 0;
}

// What becomes of the data connections of a control channel that is followed.
std::string data_story(const DataDecisions& data) {
  return "app = \"ftp\": the data connections it announces get policy \"" + data.passive.policy +
         "\": passive ones client leg " + data.passive.client_leg->profile + ", server leg " +
         data.passive.server_leg->profile + "; in active mode the server connects, as itself: its leg is " +
         data.active.client_leg->profile + ", the FTP client's " + data.active.server_leg->profile;
}

void print_decision(const Policy& policy, std::size_t index, const LegStory& client, const LegStory& server) {
  std::printf("policy \"%s\" (%s:%u), number %zu, is the first that matches\n",
              policy.decision.policy.c_str(), policy.where.file.c_str(), policy.where.line, index + 1);
  std::printf("the WAN leg is %s\n", wan_leg(policy.decision).c_str());
  print_text(client);
  print_text(server);
  if (const DataDecisions* data = policy.decision.data.get())
    std::printf("\n%s\n", data_story(*data).c_str());
}

}  // namespace

int run_explain(const std::string& file, const ExplainRequest& request) {
  const Configuration configuration = load_configuration(file);
  const Flow flow{ClientEndpoint{request.client}, OriginalDestination{request.to}};
  const Policy* policy = configuration.policies->decide(flow);
  if (!policy) return nothing_matches(flow, request.json);
  const std::size_t index = configuration.policies->index_of(*policy);
  if (policy->decision.action == Action::bypass) {
    if (request.json)
      std::printf("%s\n",
                  ordered_json{{"policy", policy->decision.policy}, {"action", "bypass"}}.dump(2).c_str());
    else
      std::printf("policy \"%s\" (%s:%u) matches first and says bypass: the kernel forwards it\n",
                  policy->decision.policy.c_str(), policy->where.file.c_str(), policy->where.line);
    return 0;
  }
  const std::string key = handshake_key(policy->decision.client_leg->settings);
  const LegStory client = client_story(flow, policy->decision, configuration.settings, key);
  const LegStory server = server_story(flow, policy->decision, configuration.settings);
  if (!request.json) {
    print_decision(*policy, index, client, server);
    return 0;
  }
  ordered_json json{{"policy", policy->decision.policy},
                    {"action", "accelerate"},
                    {"file", policy->where.file},
                    {"line", policy->where.line},
                    {"number", index + 1},
                    {"accept", print(policy->decision.accept)},
                    {"listener_class", key},
                    {"wan_leg", wan_leg(policy->decision)},
                    {"client_leg", to_json(client)},
                    {"server_leg", to_json(server)}};
  if (const DataDecisions* data = policy->decision.data.get()) {
    json["app"] = "ftp";
    json["data_policy"] = data->passive.policy;
  }
  std::printf("%s\n", json.dump(2).c_str());
  return 0;
}

}  // namespace headrace
