// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace headrace::lab {

// A directory of its own under $TMPDIR (or /tmp), removed with all that is in it. Mode 0755, so that a server
// that dropped root can still walk through it. Movable so that an owner can hand it on; never copied.
class TempDir {
 public:
  TempDir();
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&&) = delete;
  ~TempDir();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

  // Writes a file (parents are made) and returns its path.
  std::filesystem::path write(std::string_view name, std::string_view contents) const;

  void keep() { kept_ = true; }  // the destructor then leaves it

 private:
  std::filesystem::path path_;
  bool kept_ = false;
};

// The whole file. Throws when it cannot be read.
std::string read_file(const std::filesystem::path& path);

}  // namespace headrace::lab
