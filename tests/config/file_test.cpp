// SPDX-License-Identifier: GPL-3.0-or-later
// Loading from disk: which files, in which order, and which are refused.
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "tests/config/loading.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace headrace::testing;
using Catch::Contains;
using Catch::StartsWith;

namespace {

class Folder {
 public:
  Folder() {
    std::array<char, 32> name{"/tmp/headrace-config-XXXXXX"};
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name.data();
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string write(const std::string& name, const std::string& text, mode_t mode = 0644) const {
    const std::string file = path_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path{file}.parent_path());
    std::ofstream{file} << text;
    chmod(file.c_str(), mode);
    return file;
  }

  const std::string& path() const { return path_; }

  std::vector<std::string> problems() const {
    try {
      load_configuration(path_ + "/headrace.toml", new_kernel());
    } catch (const ConfigError& error) {
      return printed(error.problems());
    }
    return {};
  }

 private:
  std::string path_;
};

std::string named(const std::string& name, const std::string& address) {
  return "[[policy]]\nname = \"" + name + "\"\nto = [\"" + address + "\"]\nclient_leg = \"plain\"\n";
}

}  // namespace

TEST_CASE("files: policy files are read in lexical order, relative to the main file") {
  const Folder folder;
  folder.write("headrace.toml", "[intercept]\ninterfaces = [\"eth1\"]\n");
  folder.write("policies.d/20-b.toml", named("b", "198.18.9.2"));
  folder.write("policies.d/10-a.toml", named("a", "198.18.9.1"));
  folder.write("policies.d/B.toml", named("c", "198.18.9.3"));
  folder.write("policies.d/30-not.conf", "nonsense");
  const auto configuration = load_configuration(folder.path() + "/headrace.toml", new_kernel());
  std::vector<std::string> names;
  for (const auto& policy : configuration.policies->policies()) names.push_back(policy.decision.policy);
  CHECK(names == std::vector<std::string>{"a", "b", "c"});
  CHECK(configuration.policy_files.size() == 3);
  CHECK(configuration.policies->policies()[0].where.file == folder.path() + "/policies.d/10-a.toml");
  CHECK(configuration.warnings.empty());
}

TEST_CASE("files: several patterns are read in their order, and no file twice") {
  const Folder folder;
  folder.write("headrace.toml", "policy_files = [\"z/*.toml\", \"a.toml\", \"*/1.toml\"]\n");
  folder.write("z/1.toml", named("z", "198.18.9.1"));
  folder.write("a.toml", named("a", "198.18.9.2"));
  const auto files = load_configuration(folder.path() + "/headrace.toml", new_kernel()).policy_files;
  CHECK(files == std::vector<std::string>{folder.path() + "/z/1.toml", folder.path() + "/a.toml"});
}

TEST_CASE("files: a pattern without a match is a warning, a file or directory that is not there a problem") {
  const Folder folder;
  folder.write("headrace.toml", "# none\n");
  const auto warnings = load_configuration(folder.path() + "/headrace.toml", new_kernel()).warnings;
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0].text, Contains("intercepts nothing"));

  std::filesystem::create_directory(folder.path() + "/policies.d");
  CHECK_THAT(load_configuration(folder.path() + "/headrace.toml", new_kernel()).warnings.at(0).text,
             Contains("no file matches \"policies.d/*.toml\": intercepts nothing"));

  folder.write("headrace.toml", "policy_files = \"gone.d/*.toml\"\n");
  CHECK_THAT(folder.problems().at(0),
             Contains(":1:16: policy_files: \"gone.d/*.toml\": cannot read the directory"));
  folder.write("headrace.toml", "policy_files = \"gone.toml\"\n");
  CHECK_THAT(folder.problems().at(0), Contains("\"gone.toml\" does not exist"));
}

TEST_CASE("files: what others may write is refused") {
  const Folder folder;
  folder.write("headrace.toml", "# none\n", 0646);
  CHECK_THAT(folder.problems().at(0), Contains("everybody may write it (chmod o-w)"));
  folder.write("headrace.toml", "# none\n", 0644);
  const std::string file = folder.write("policies.d/a.toml", named("a", "198.18.9.1"), 0666);
  CHECK(folder.problems() == std::vector<std::string>{file + ": everybody may write it (chmod o-w)"});
  folder.write("policies.d/a.toml", named("a", "198.18.9.1"), 0664);
  CHECK(folder.problems().empty());  // our own group
  if (geteuid() == 0) {
    REQUIRE(chown(file.c_str(), 0, 4711) == 0);
    CHECK(folder.problems() == std::vector<std::string>{file + ": its group may write it (chmod g-w)"});
  }
}

TEST_CASE("files: what cannot be read is a problem, beside those of the other files") {
  const Folder folder;
  CHECK_THAT(folder.problems().at(0), Contains("headrace.toml: cannot open: No such file"));
  folder.write("headrace.toml", "wrkers = 1\n");
  const std::string pipe = folder.path() + "/policies.d/a.toml";
  std::filesystem::create_directory(folder.path() + "/policies.d");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::filesystem::create_symlink("/nowhere", folder.path() + "/policies.d/b.toml");
  std::filesystem::create_directory(folder.path() + "/policies.d/c.toml");
  const auto problems = folder.problems();
  REQUIRE(problems.size() == 4);
  CHECK_THAT(problems[1], StartsWith(pipe + ": not a regular file"));
  CHECK_THAT(problems[2], Contains("b.toml: cannot open"));
  CHECK_THAT(problems[3], Contains("c.toml: not a regular file"));
}
