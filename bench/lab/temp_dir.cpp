// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/temp_dir.hpp"

#include <stdlib.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "bench/lab/handle.hpp"

namespace headrace::lab {

TempDir::TempDir() {
  std::string pattern = (std::filesystem::temp_directory_path() / "headrace-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw_errno("mkdtemp " + pattern);
  path_ = pattern;
  using std::filesystem::perms;
  std::filesystem::permissions(path_, perms::owner_all | perms::group_read | perms::group_exec |
                                          perms::others_read | perms::others_exec);
}

TempDir::TempDir(TempDir&& other) noexcept
    : path_(std::move(other.path_)), kept_(std::exchange(other.kept_, true)) {}

TempDir::~TempDir() {
  if (kept_) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TempDir::write(std::string_view name, std::string_view contents) const {
  const std::filesystem::path target = path_ / name;
  std::filesystem::create_directories(target.parent_path());
  std::ofstream file(target, std::ios::binary);
  file << contents << std::flush;
  if (!file) throw std::runtime_error("cannot write " + target.string());
  return target;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream contents;
  contents << file.rdbuf();
  return contents.str();
}

}  // namespace headrace::lab
