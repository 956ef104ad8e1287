// SPDX-License-Identifier: GPL-3.0-or-later
// Random writes, marks, pauses, buffers, ends and resets, through headrace and on a direct connection: the
// same judge for both, so that nothing is asked of headrace that TCP itself does not keep.
#include <cstdlib>

#include "tests/netns/search/judge.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr std::uint16_t kThrough = 5001, kDirect = 5002;
constexpr int kScripts = 150;

std::optional<std::uint64_t> number_from(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? std::nullopt : std::optional{std::strtoull(text, nullptr, 10)};
}

std::string played_wrong(const lab::InlineLab& lab, const Script& script, std::uint16_t port) {
  const char* address = script.seed % 2 == 0 ? lab::kServer4 : lab::kServer6;
  const auto listener = lab::Socket::listen(lab.server, lab::endpoint(address, port), script.server.options);
  const auto client = lab::Socket::connect(lab.client, lab::endpoint(address, port), script.client.options);
  const auto server = listener.accept();
  return what_is_wrong(script, play(script, client, server));
}

}  // namespace

TEST_CASE("search: a session carries what a direct connection carries, whatever both ends do") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_policies(policy(kThrough, "\"lan\"", "\"lan\""))};
  const auto only = number_from("HEADRACE_SEARCH_SEED");
  const auto seconds = number_from("HEADRACE_SEARCH_SECONDS");
  const lab::Deadline deadline{std::chrono::seconds{seconds.value_or(90)}};
  const std::uint64_t first = only.value_or(1);
  for (std::uint64_t seed = first; !deadline.passed() && (only ? seed == first : seconds || seed <= kScripts);
       ++seed) {
    const Script script = random_script(seed);
    INFO(print(script));
    REQUIRE(played_wrong(lab, script, kDirect) == "");
    REQUIRE(played_wrong(lab, script, kThrough) == "");
  }
  CHECK(eventually([&] { return daemon.status()["sessions"] == 0; }));
  CHECK(daemon.log().find("error") == std::string::npos);
}
