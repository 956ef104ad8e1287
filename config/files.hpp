// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <variant>
#include <vector>

// Reading configuration files: the text, who may write them, and which ones a pattern names. Private to
// config/; throws nothing.
namespace headrace {

struct FileFault {
  std::string text;
};

// The text of a regular file that only its owner (and a trusted group) may write.
std::variant<std::string, FileFault> read_config_file(const std::string& file);

struct Found {
  std::vector<std::string> files;  // in lexical order
  std::string fault;               // why a directory could not be read; empty: it could
  bool missing_directory = false;
};

// The files that `pattern` names, relative to the directory of `main_file`.
Found find_files(const std::string& main_file, const std::string& pattern);

}  // namespace headrace
