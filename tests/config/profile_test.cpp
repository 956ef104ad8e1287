// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/config/loading.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace headrace::testing;
using Catch::Contains;

TEST_CASE("profiles: one may replace a shipped one, and everybody then gets the new one") {
  const auto configuration = load("# none\n", "[profile.lan]\nmss = 1400\n" + policy(""));
  CHECK(configuration.policies->policies()[0].decision.server_leg->settings.mss.segment == 1400);
}

TEST_CASE("profiles: one may extend the shipped one of its own name") {
  const auto configuration = load("# none\n", "[profile.plain]\ninherits = \"plain\"\nmss = 1400\n");
  CHECK(configuration.profiles.at("plain").mss.segment == 1400);
  CHECK(configuration.profiles.at("plain").cork.mode == Cork::Mode::off);
}

TEST_CASE("profiles: a bare one has the defaults of the product") {
  CHECK(load("# none\n", "[profile.mine]\n").profiles.at("mine") == Profile{});
}

TEST_CASE("profiles: a leg that repeats its profile's values is that profile") {
  const auto configuration = load("# none\n", policy("server_leg = { profile = \"lan\", nodelay = true }\n"));
  CHECK(configuration.policies->policies()[0].decision.server_leg->profile == "lan");
}

TEST_CASE("profiles: bursts on bbr are warned about once, wherever the bbr comes from") {
  const auto bbr = [](const std::string& policies, const std::string& by_default) {
    Environment environment = new_kernel();
    environment.default_congestion = by_default;
    std::vector<std::string> found;
    for (const auto& warning : warnings_of("# none\n", policies, environment)) {
      if (warning.find("paces them") != warning.npos) found.push_back(warning);
    }
    return found;
  };
  CHECK(bbr(policy(""), "bbr").empty());  // the shipped profile names cubic itself
  CHECK(bbr(policy("client_leg = { congestion = \"bbr\" }\n"), "cubic").size() == 1);
  CHECK(bbr(policy("client_leg = { congestion = \"auto\" }\n"), "bbr").size() == 1);
  CHECK(bbr(policy("client_leg = { congestion = \"auto\" }\n"), "cubic").empty());
  CHECK(bbr("[profile.wan-interactive]\nnodelay = true\n" + policy(""), "bbr").size() == 1);
  CHECK(bbr("[profile.mine]\ninherits = \"wan-interactive\"\ncongestion = \"bbr\"\n" +
                policy("client_leg = \"mine\"\n"),
            "cubic")
            .size() == 1);
  CHECK(bbr(policy("client_leg = \"wan-lossy\"\n"), "bbr").empty());
}

TEST_CASE("profiles: a fixed buffer beyond the host's limit and a short user_timeout are warned about") {
  Environment environment = new_kernel();
  environment.receive_limit = Bytes{212992};
  const auto buffer = warnings_of("# none\n", "[profile.x]\nreceive_buffer = \"1MiB\"\n", environment);
  REQUIRE(buffer.size() == 1);
  CHECK_THAT(buffer[0], Contains("1MiB is cut to net.core's limit of 208KiB, and autotuning is off"));
  CHECK(warnings_of("# none\n", "[profile.x]\nreceive_buffer = \"128KiB\"\n", environment).empty());
  CHECK(
      warnings_of("[kernel]\nrmem_max = \"4MiB\"\n", "[profile.x]\nreceive_buffer = \"1MiB\"\n", environment)
          .empty());
  const auto timeout = warnings_of("# none\n", "[profile.x]\nuser_timeout = \"30s\"\n");
  REQUIRE(timeout.size() == 1);
  CHECK_THAT(timeout[0], Contains("user_timeout: 30s is shorter than keepalive takes"));
  CHECK(warnings_of("# none\n", "[profile.x]\nuser_timeout = \"5m\"\n").empty());
}

TEST_CASE("profiles: a mark beside headrace's own mask is taken, whichever mask that is") {
  CHECK(problems_of("# none\n", policy("client_leg = { mark = 0x100 }\n")).empty());
  CHECK(problems_of("[intercept]\nmark = \"0x100/0xf00\"\n", policy("client_leg = { mark = 0x10000 }\n"))
            .empty());
  CHECK(problems_of("[intercept]\nmark = \"0x100/0xf00\"\n", policy("client_leg = { mark = 0x200 }\n"))
            .size() == 1);
}
