// SPDX-License-Identifier: GPL-3.0-or-later
// The files that ship: headrace.toml says the defaults, the example loads, the profiles do what they claim.
#include <fstream>
#include <sstream>

#include "config/kernel_keys.hpp"
#include "tests/config/loading.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace headrace::testing;

namespace {

std::string shipped(const std::string& name) {
  std::ifstream in{HEADRACE_SOURCE_DIR "/config/" + name};
  std::ostringstream text;
  text << in.rdbuf();
  REQUIRE_FALSE(text.str().empty());
  return text.str();
}

// Keys stand as `#key = value`, prose as `# text`.
std::string uncommented(const std::string& text, int& keys) {
  std::istringstream lines{text};
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const bool is_key = line.size() > 1 && line[0] == '#' && line[1] != ' ' && line[1] != '#';
    keys += is_key ? 1 : 0;
    result += (is_key ? line.substr(1) : line) + "\n";
  }
  return result;
}

}  // namespace

TEST_CASE("shipped: loading headrace.toml as it is gives the defaults") {
  CHECK(load(shipped("headrace.toml")).settings == Settings{});
}

TEST_CASE("shipped: the values that headrace.toml shows are the defaults") {
  int keys = 0;
  const std::string text = uncommented(shipped("headrace.toml"), keys);
  CHECK(load(text).settings == Settings{});
  CHECK(static_cast<std::size_t>(keys) == 29 + kernel_keys().size());  // no key is left unsaid
}

TEST_CASE("shipped: the example policies load once their comments are taken away") {
  int keys = 0;
  const auto configuration = load("# none\n", uncommented(shipped("policies.d/10-example.toml"), keys));
  CHECK(configuration.policies->policies().size() == 5);
  CHECK(load("# none\n", shipped("policies.d/10-example.toml")).policies->policies().empty());
}

TEST_CASE("shipped: the profiles are those that the documentation names") {
  std::vector<Problem> warnings;
  const auto profiles = shipped_profiles(new_kernel(), warnings);
  std::vector<std::string> names;
  for (const auto& [name, profile] : profiles) names.push_back(name);
  CHECK(names ==
        std::vector<std::string>{"lan", "plain", "radio", "wan-bulk", "wan-interactive", "wan-lossy"});
  for (const auto& [name, profile] : profiles) {
    INFO(name);
    CHECK(profile.nodelay);
    CHECK(profile.quickack == QuickAck::automatic);
    CHECK(profile.keepalive);
  }
  CHECK(profiles.at("plain").cork.mode == Cork::Mode::off);
  CHECK(profiles.at("lan") == Profile{});
  CHECK(profiles.at("wan-interactive").congestion->name == "cubic");
  CHECK(profiles.at("wan-lossy").congestion->name == "bbr");
  CHECK(profiles.at("radio").congestion->name == "cubic");
  CHECK(profiles.at("radio").send_buffer == Bytes{24 * 1024});
  CHECK(profiles.at("radio").keepalive_idle == std::chrono::seconds{300});
}

TEST_CASE("shipped: what this host cannot do of a profile is left out and told") {
  Environment environment = new_kernel();
  environment.no_leg_storage = "no BPF here";
  std::vector<Problem> warnings;
  const auto profiles = shipped_profiles(environment, warnings);
  CHECK_FALSE(profiles.at("wan-interactive").initial_window);
  CHECK_FALSE(profiles.at("radio").initial_window);
  CHECK(profiles.at("radio").timestamps == false);
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0].text.find("no BPF here") != std::string::npos);
}

TEST_CASE("shipped: a host that can do everything loses nothing") {
  std::vector<Problem> warnings;
  const auto profiles = shipped_profiles(new_kernel(), warnings);
  CHECK(profiles.at("wan-interactive").initial_window == Segments{60});
  CHECK(warnings.empty());
}
