// SPDX-License-Identifier: GPL-3.0-or-later
// One file a defect, in tests/config/bad: its first lines say which problems must be found, and no other may
// be.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/config/loading.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace headrace::testing;

namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> expectations(const std::string& text) {
  constexpr std::string_view kLead = "# expect ";
  std::vector<std::string> expected;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line) && line.starts_with(kLead);) {
    expected.push_back(line.substr(kLead.size()));
  }
  return expected;
}

// "3:8: workers: 0" is found in "file.toml:3:8: workers: 0 is not accepted (...)"
bool found(const std::string& expectation, const std::string& file,
           const std::vector<std::string>& problems) {
  return std::any_of(problems.begin(), problems.end(), [&](const std::string& problem) {
    const auto text = expectation.find(": ");
    const std::string place = file + ":" + expectation.substr(0, text + 2);
    return problem.starts_with(place) && problem.find(expectation.substr(text + 2)) != problem.npos;
  });
}

void check_file(const std::filesystem::path& path, bool is_policy_file) {
  const std::string text = text_of(path);
  const std::string name = path.filename().string();
  std::vector<ConfigText> texts{{name, text}};
  if (is_policy_file) texts.insert(texts.begin(), {"headrace.toml", "# none\n"});
  const auto problems = problems_of(texts);
  const auto expected = expectations(text);
  INFO("file: " << name
                << ", problems found: " << Catch::StringMaker<std::vector<std::string>>::convert(problems));
  REQUIRE_FALSE(expected.empty());
  for (const std::string& expectation : expected) {
    INFO("expected: " << expectation);
    CHECK(found(expectation, name, problems));
  }
  CHECK(problems.size() == expected.size());
}

void check_folder(const std::string& folder, bool is_policy_file, std::size_t at_least) {
  std::size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator{HEADRACE_SOURCE_DIR "/tests/config/bad/" + folder}) {
    check_file(entry.path(), is_policy_file);
    ++count;
  }
  CHECK(count >= at_least);
}

}  // namespace

TEST_CASE("bad files: each defect of headrace.toml is told with its place") {
  check_folder("settings", false, 60);
}

TEST_CASE("bad files: each defect of a policy file is told with its place") {
  check_folder("policies", true, 60);
}
