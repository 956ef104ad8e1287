// SPDX-License-Identifier: GPL-3.0-or-later
#include "policy/listener_class.hpp"
#include "tests/config/loading.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace headrace::testing;
using Catch::Contains;

namespace {

const std::string kData =
    "[[policy]]\nname = \"data\"\nclient_leg = { profile = \"radio\", mss = 1400 }\n"
    "server_leg = { profile = \"lan\", mss = 1300 }\nconnect_as = \"client-address\"\n";

std::string control(const std::string& more) {
  return "[[policy]]\nname = \"files\"\nto = [\"any\"]\nports = [21]\napp = \"ftp\"\n" + more;
}

const Decision& decision(const Configuration& configuration, std::size_t index) {
  return configuration.policies->policies().at(index).decision;
}

}  // namespace

TEST_CASE("app: data_policy names a policy that stands anywhere, and active mode swaps its legs") {
  const std::string named = control("data_policy = \"data\"\n");
  for (const auto& text : {named + kData, kData + named}) {
    const auto configuration = load("# none\n", text);
    const bool first = decision(configuration, 0).policy == "files";
    const Decision& files = decision(configuration, first ? 0 : 1);
    REQUIRE(files.data);
    const Decision& passive = files.data->passive;
    CHECK(passive.policy == "data");
    CHECK(passive.client_leg->settings.mss.segment == 1400);
    CHECK(passive.server_leg->settings.mss.segment == 1300);
    CHECK(passive.connect_as == ConnectAs::client_address);
    const Decision& active = files.data->active;
    CHECK(active.policy == "data");
    CHECK(active.client_leg->settings.mss.segment == 1300);
    CHECK(active.server_leg->settings.mss.segment == 1400);
    CHECK(active.connect_as == ConnectAs::client);
    CHECK_FALSE(passive.data);
    CHECK_FALSE(active.data);
    CHECK_FALSE(decision(configuration, first ? 1 : 0).data);
  }
}

TEST_CASE("app: without data_policy the data connections get the policy's own legs") {
  const auto configuration = load("# none\n", control("client_leg = \"radio\"\n"));
  REQUIRE(decision(configuration, 0).data);
  CHECK(decision(configuration, 0).data->passive.policy == "files");
  CHECK(decision(configuration, 0).data->active.server_leg->profile == "radio");
}

TEST_CASE("app: a policy without to matches nothing, and every leg that data can arrive by has a class") {
  const auto configuration = load("# none\n", kData + control("data_policy = \"data\"\n"));
  const PolicyTable& table = *configuration.policies;
  const Flow flow{{{*parse_address("198.18.1.2"), 40000}}, {{*parse_address("198.18.2.2"), 5000}}};
  CHECK(table.decide(flow) == nullptr);
  const auto grouped = group_into_classes(table);
  std::vector<std::string> keys;
  for (const ListenerClass& one : grouped.classes) {
    keys.push_back(one.key);
    CHECK_FALSE(one.policies.empty());
  }
  const Decision& files = decision(configuration, 1);
  for (const Decision* data : {&files.data->passive, &files.data->active}) {
    const std::string key = handshake_key(data->client_leg->settings);
    CHECK(std::find(keys.begin(), keys.end(), key) != keys.end());
  }
}

TEST_CASE("app: a forwarder has it too, with a policy's legs or its own") {
  const std::string forward = "[[forward]]\nlisten = \"2121\"\nto = \"198.18.9.5:21\"\n";
  const auto named = load(forward + "app = \"ftp\"\ndata_policy = \"data\"\n", kData);
  REQUIRE(named.settings.forwards.at(0).data);
  CHECK(named.settings.forwards.at(0).data->passive.policy == "data");
  const auto own = load(forward + "app = \"ftp\"\nclient_leg = \"radio\"\n");
  REQUIRE(own.settings.forwards.at(0).data);
  CHECK(own.settings.forwards.at(0).data->passive.policy == "forward:127.0.0.1:2121");
  CHECK(own.settings.forwards.at(0).data->passive.client_leg->profile == "radio");
  CHECK_FALSE(load(forward).settings.forwards.at(0).data);
}

TEST_CASE("app: with iptables a warning says which data connections are taken") {
  const auto warnings =
      warnings_of("[intercept]\nfirewall = \"iptables\"\ninterfaces = [\"eth1\"]\n", control(""));
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings.front(),
             Contains("10-test.toml:1:1: policy \"files\": with intercept.firewall = \"iptables\""));
}

TEST_CASE("app: a warning says that the server would see two peers") {
  const std::string proxy = control("data_policy = \"data\"\nconnect_as = \"proxy\"\n") + kData;
  const std::string intercept = "[intercept]\ninterfaces = [\"eth1\"]\n";
  const auto warnings = warnings_of(intercept, proxy);
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings.front(),
             Contains("connects as \"proxy\", its data policy \"data\" as \"client-address\""));
  CHECK(warnings_of(intercept, control("data_policy = \"data\"\n") + kData).empty());
}

TEST_CASE("app: with many policies it is the named one that counts") {
  std::string text = control("data_policy = \"p70\"\n");
  for (int n = 0; n < 100; ++n)
    text += "[[policy]]\nname = \"p" + std::to_string(n) + "\"\nto = [\"198.18.9." + std::to_string(n) +
            "\"]\nports = [80]\nserver_leg = { mss = " + std::to_string(1000 + n) + " }\n";
  CHECK(decision(load("# none\n", text), 0).data->passive.server_leg->settings.mss.segment == 1070);
}
